import type { StoreError } from '../contract/errors.ts';
import type { GoneStatus, Takeover, WaitingStatus } from '../contract/store.ts';
import type { Loss } from './errors.ts';

/** Receives the outcome of a claim; each of these calls ends the claim, but for `granted`. */
export interface Claimant {
  granted(now: number): void;
  /** The store does not know the claim, or does not want it. */
  gone(status: GoneStatus): void;
  /** The store failed for too long to go on waiting. */
  failed(error: StoreError): void;
  lost(loss: Loss): void;
}

export interface Terms {
  readonly heartbeat: boolean;
  /** Heartbeat at a third of this, in ms. */
  readonly beatTtlMs: number;
  /** A hint is not enough: the claim must live for its whole TTL from the grant. */
  readonly confirmGrant: boolean;
}

/** The store's reply that admitted the claim. */
export interface Grant {
  readonly number: bigint;
  /** A store that lost its memory may have another one now. */
  readonly lineage: string;
  readonly takeover: Takeover | undefined;
  /** The claim had stood in the store's queue. */
  readonly queued: boolean;
}

export type State =
  /** `doubled`: a copy of the claim may arrive late, so hints do not grant. */
  | { readonly at: 'asking'; readonly doubled: boolean }
  /** `admitted`: by the store, which has yet to confirm a life long enough. */
  | {
      readonly at: 'waiting';
      readonly doubled: boolean;
      readonly admitted: boolean;
      /** The last reply, unless it is admitted. */
      readonly status: WaitingStatus | undefined;
    }
  | { readonly at: 'held'; readonly since: number; readonly grant: Grant }
  | { readonly at: 'over' };

export const OVER: State = { at: 'over' };
