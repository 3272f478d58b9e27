/** What a store in a database needs of a client package. */
import type { StoreError } from '../../contract/errors.ts';

/**
 * What the database does in one call, as `schema.sql` of each store defines it. All take texts and
 * answer rows of one text; `status` stands for the lines of `status-lines.ts`:
 * - `claim`, `renew`, `release`: settings, and an array of claims; one row a claim, in their order:
 *   a status, or for `release` 1 or 0. Of several, those whose row somebody else has locked are not
 *   among them, but before them, as `b` and the place in the array;
 * - `change`: settings, and `{ verb, resource, id }` for `downgrade`, which answers a status, or
 *   `{ verb, resource, number, reason, now }` for `evict`, which answers 1 or 0;
 * - `keep`: settings, resource, id, a text and ms; 1 if that claim is held, and it is kept, or 0;
 * - `recall`: a resource; ms and what is kept for so long, or no row;
 * - `inspect`: settings, and a resource; the lines of its living claims, in order;
 * - `names`: after which name, and how many at most; resources with living claims, in byte order;
 * - `look`: an array of ids; `id status` for those that live. It locks nothing;
 * - `sweep`: nothing; a row if there is more to sweep.
 * What is more than one text is JSON. Where they are, the same for one claim, of plain values, for
 * JSON costs more than all else that is common:
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
   * Calls a routine, each call one transaction; settles with the only column of its rows. Not
   * called again before it has settled.
   */
  call(routine: Routine, args: readonly string[]): Promise<readonly string[]>;
  /** Undefined: messages of the server do not come over it. */
  readonly listen?: ((channel: string) => Promise<unknown>) | undefined;
  /** The least that the server answers. */
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
  /**
   * A wire to a database that can keep locks: whatever makes that impossible is the reason with
   * which it rejects.
   */
  open(terms: WireTerms): Promise<Wire>;
  /** What an error of `open`, or else of a wire that may have carried out something, means. */
  judge(error: unknown, during: 'open' | 'call'): Judgement;
}

export interface Judgement {
  readonly error: StoreError;
  /** Nothing more can be expected of the wire. */
  readonly broken: boolean;
  /** Somebody else has had the lock of a row for longer than was to be waited. */
  readonly blocked?: boolean;
}
