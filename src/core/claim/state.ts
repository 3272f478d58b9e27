import type { StoreError } from '../../contract/errors.ts';
import type { GoneStatus, Takeover, WaitingStatus } from '../../contract/store.ts';
import type { Loss } from '../errors.ts';
import type { Spec } from '../services.ts';

/** Receives what becomes of a claim; all but `granted` and `handOn` have ended it. */
export interface Claimant {
  /**
   * Its claim beats at a third of `ttlMs`. With `minHoldMs`, a hint is not enough: a reply must
   * show that the claim stays for so long from the grant.
   */
  readonly spec: Pick<Spec, 'heartbeat' | 'ttlMs' | 'minHoldMs'>;
  granted(now: number): void;
  /**
   * The holder is done: passes the claim on, or releases it to take effect `afterMs` from now.
   * Returns a promise if the store needs a request.
   */
  handOn(now: number, afterMs: number): Promise<void> | undefined;
  /** The store does not know the claim, or does not want it. */
  gone(status: GoneStatus): void;
  /** The store failed for too long to go on waiting. */
  failed(error: StoreError): void;
  lost(loss: Loss): void;
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
  /** No reply yet. `doubled`: a copy of the claim may arrive late, so hints do not grant. */
  | { readonly at: 'asking'; readonly doubled: boolean }
  | {
      readonly at: 'waiting';
      readonly doubled: boolean;
      readonly queued: boolean;
      /** The last reply; undefined if it is admitted, but not yet for long enough. */
      readonly status: WaitingStatus | undefined;
    }
  | {
      readonly at: 'held';
      readonly since: number;
      readonly grant: Grant;
      /** Claims behind this one in the store, by the last reply or hint; no tasks of ours. */
      readonly waiters: number;
      /** When a hint told of one: replies to requests sent before may not know it. */
      readonly hintedAt: number;
    }
  | { readonly at: 'over' };

/** Where each claim begins, and where it ends. */
export const ASKING: State = { at: 'asking', doubled: false };
export const OVER: State = { at: 'over' };
