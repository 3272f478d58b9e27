import type { StoreError } from '../contract/errors.ts';
import type { GoneStatus } from '../contract/store.ts';
import type { LossReason } from './errors.ts';

/** Who is told what becomes of a claim; one of these calls ends it, but for `granted`. */
export interface ClaimListener {
  granted(now: number): void;
  /** The store does not know the claim, or does not want it. */
  gone(status: GoneStatus): void;
  /** The store failed for too long to go on waiting. */
  failed(error: StoreError): void;
  lost(reason: LossReason, detail: string | undefined): void;
}

export interface ClaimTerms {
  readonly heartbeat: boolean;
  /** Heartbeat at a third of this, in ms. */
  readonly beatTtlMs: number;
  /** A hint is not enough: the claim must live for its whole TTL from the grant. */
  readonly confirmGrant: boolean;
}
