/** The mark of a hold that was handed over, and is not resumed yet. */
export const IN_TRANSIT = 'in transit';

/**
 * The ids between which a hold passes. One of them is that of the claim: `from` where its holder
 * gives it, `to` where the next holder takes it.
 */
export interface HandOver {
  readonly from: string;
  readonly to: string;
}
