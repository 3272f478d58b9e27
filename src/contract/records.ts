/** A record of finished work. It is not a claim: it has no holder and is not renewed. */
export interface Kept {
  readonly text: string;
  /** How much longer the store keeps it. */
  readonly leftMs: number;
}

/** What is to be kept, and for how many ms from now. */
export interface RecordTerms {
  readonly text: string;
  readonly ms: number;
}

/** Longest text that is kept, in bytes of UTF-8. */
export const MAX_KEPT_BYTES: number = 16 * 1024;

/** Longest time for which it is kept, in ms: ten years. More would be a mistake. */
export const MAX_KEPT_MS: number = 3660 * 86_400_000;
