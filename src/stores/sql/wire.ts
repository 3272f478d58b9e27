/** What a store in a database needs of a client package. */
import type { StoreError } from '../../contract/errors.ts';

/**
 * What the database does in one call, as `schema.sql` of each store defines it. All take texts and
 * return rows of one text; `status` stands for the lines of `status-lines.ts`:
 * - `claim`, `renew`, `release`: settings, and an array of claims; one row a claim, in their order:
 *   a status, or for `release` 1 or 0. Of several, a claim whose row another session has locked
 *   gets no such row, but one before them all: `b` and the place in the array;
 * - `change`: settings, and `{ verb, resource, id }` for `downgrade`, which returns a status, or
 *   `{ verb, resource, number, reason, now }` for `evict`, which returns 1 or 0;
 * - `keep`: settings, resource, id, a text and ms; 1 if that claim is held, and it is kept, or 0;
 * - `recall`: a resource; ms and the text that is kept for so long, or no row;
 * - `inspect`: settings, and a resource; the lines of its living claims, in order;
 * - `names`: after which name, and how many at most; resources with living claims, in byte order;
 * - `look`: an array of ids; `id status` for those that live. It locks nothing;
 * - `sweep`: nothing; a row if there is more to sweep.
 * Arguments of more than one text are JSON. A database may also have these for one claim, with
 * plain values, since JSON costs more than all the rest of a common call:
 * - `claim_one`: settings, and of these `patience`, `maxTtl` and `fast`; resource, id, kind,
 *   permits, limit, ttl, queue, address, tag, holder;
 * - `release_one`, at once and of a claim that was answered: the same settings; resource, id, ttl.
 */
export type Routine =
  | 'claim'
  | 'claim_one'
  | 'renew'
  | 'release'
  | 'release_one'
  | 'change'
  | 'keep'
  | 'recall'
  | 'inspect'
  | 'names'
  | 'look'
  | 'sweep';

/** One connection of a client package. It never reconnects. */
export interface Wire {
  /**
   * Calls a routine, each call one transaction; resolves with the only column of its rows. Not
   * called again before it has settled.
   */
  call(routine: Routine, args: readonly string[]): Promise<readonly string[]>;
  /** Undefined if the server's messages do not come over this wire. */
  readonly listen?: ((channel: string) => Promise<unknown>) | undefined;
  /** Sends the smallest request that the server replies to. */
  ping(): Promise<unknown>;
  /** Ends it at once, whatever the network does. */
  close(): void;
}

export interface WireTerms {
  /** Gives up connecting. */
  readonly signal: AbortSignal;
  /** To be called when the wire breaks. */
  readonly lost: (cause: unknown) => void;
  /** To be called with each message. */
  readonly heard: (message: string) => void;
}

/** How to reach a database. */
export interface Source {
  /** A wire to a database that can keep locks; rejects with the reason if it cannot. */
  open(terms: WireTerms): Promise<Wire>;
  /** The meaning of an error of `open`, or of a call that may have been carried out. */
  judge(error: unknown, during: 'open' | 'call'): Judgement;
}

export interface Judgement {
  readonly error: StoreError;
  /** The wire is of no more use. */
  readonly broken: boolean;
  /** Another session has had the lock of a row for longer than the call may wait. */
  readonly blocked?: boolean;
}
