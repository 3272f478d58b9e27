/**
 * The contract between core and every store: a resource is a queue of claims, and a claim is
 * admitted when its permits fit under the limit and none before it waits.
 *
 * Idempotent by id: every verb may be repeated, so that core can ask again after an unknown
 * outcome. Release is final: where a copy of the claim may still arrive late, it leaves a tombstone
 * for one TTL. Stores deal in durations of their own server's clock; only core has deadlines.
 */
import type { StoreError } from './errors.ts';
import type { Traits } from './traits.ts';

export type { Traits } from './traits.ts';

/** The kind of a lock. `read` and `write` share a queue; every other kind has its own. */
export type Kind = 'mutex' | 'read' | 'write' | 'permits';

/** The mark of a claim in an election. */
export const CANDIDATE = 'candidate';

/** The mark of a hold that was handed over, and is not resumed yet. */
export const IN_TRANSIT = 'in transit';

/** Identifies a claim for people, never for logic. `since` is the wall clock in epoch ms. */
export interface Holder {
  readonly host: string;
  readonly pid: number;
  readonly label?: string;
  readonly since: number;
  /** Set in an election, by `ifBusy`, and by a layer to recognise its program's claims; public. */
  readonly mark?: string;
}

/** Made by core, never by a store. */
export interface Claim {
  /**
   * The name, with its prefix, as it was given: up to 640 bytes of UTF-8, with no character that
   * means something to the store.
   */
  readonly resource: string;
  /** 128 random bits in hexadecimal; secret, unlike the token. */
  readonly id: string;
  /**
   * 128 random bits in hexadecimal, shown only by the release of a hold that its process has not
   * lost: by its hash others know that the hold has ended. Without it, those behind have to ask.
   */
  readonly secret?: string | undefined;
  readonly kind: Kind;
  readonly permits: number;
  readonly limit: number;
  /** The claim lives this long without a heartbeat. */
  readonly ttlMs: number;
  /** False: enter only if admitted at once. */
  readonly queue: boolean;
  readonly holder: Holder;
  /**
   * A request for this claim got no reply, so a copy may arrive late: releasing it leaves a
   * tombstone.
   */
  readonly unanswered?: boolean;
}

/** How the previous hold of a resource ended, so that its successor can recover unfinished work. */
export interface Takeover {
  readonly reason: 'released' | 'expired' | 'evicted' | 'handed-over';
  /** The first one of its claim: hand-offs within its process count on, unseen by the store. */
  readonly token: bigint;
}

export type GoneReason =
  | 'refused'
  | 'full'
  | 'mismatch'
  | 'expired'
  | 'evicted'
  | 'store-reset'
  | 'session'
  | 'handed-over'
  | 'resumed'
  | 'unknown';

export interface HeldStatus {
  readonly state: 'held';
  readonly token: bigint;
  /** Life left, counted from when this request was sent. */
  readonly leftMs: number;
  /** Claims waiting behind; exact or at least 1 if there are any. */
  readonly waiters: number;
  readonly takeover?: Takeover | undefined;
  /** The limit in force, where another program's smaller one overrides the claim's own. */
  readonly limit?: number | undefined;
}

export interface WaitingStatus {
  readonly state: 'waiting';
  readonly leftMs: number;
  readonly why: 'queue' | 'data-loss';
  /** Claims before this one; an estimate. */
  readonly ahead?: number | undefined;
  /**
   * The reply can have changed after this long without a hint, so core asks again: the claim before
   * may be dead, the wait after a loss of data over, or the lock free in a store without `watch`.
   */
  readonly retryInMs: number;
  readonly limit?: number | undefined;
}

export interface GoneStatus {
  readonly state: 'gone';
  readonly why: GoneReason;
  /** For people: the obstacle ("the queue holds mutex claims"), or why it was evicted. */
  readonly detail?: string | undefined;
  /** With `refused`: the store has lost its memory, and grants nothing for this long. */
  readonly quarantineMs?: number | undefined;
}

/** Only this element of a batch failed. */
export interface ErrorStatus {
  readonly state: 'error';
  readonly error: StoreError;
}

export type ClaimStatus = HeldStatus | WaitingStatus | GoneStatus | ErrorStatus;

/**
 * A claim as others see it. `number` is public: its place in the order, and its token once
 * admitted.
 */
export interface Member {
  readonly number: bigint;
  readonly kind: Kind;
  readonly permits: number;
  readonly ttlMs: number;
  /** Life left without another heartbeat. The last one was `ttlMs - leftMs` ago. */
  readonly leftMs: number;
  readonly holder: Holder;
}

/**
 * Live claims only, in order.
 *
 * @example
 * const { holders, waiters } = await locks.inspect('report');
 */
export interface Queue {
  readonly resource: string;
  /** The limit in force; undefined for an empty queue. */
  readonly limit?: number | undefined;
  readonly holders: readonly Member[];
  readonly waiters: readonly Member[];
  /** The store has lost its memory, and grants nothing for this long; undefined otherwise. */
  readonly quarantineMs?: number | undefined;
}

export type Wake = (hint?: ClaimStatus) => void;

/** Ends a watch. */
export type Subscribed = (Disposable & AsyncDisposable) | Promise<AsyncDisposable>;

/** Why a claim is to end, and whether at once or with its ttl. */
export interface Eviction {
  readonly reason: string;
  readonly now: boolean;
  /** Only if it still waits, in the same step; heeded with the trait `replaces`. */
  readonly waiting?: boolean | undefined;
}

/**
 * The ids between which a hold passes. One of them is that of the claim: `from` where its holder
 * gives it, `to` where the next holder takes it.
 */
export interface HandOver {
  readonly from: string;
  readonly to: string;
}

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

/**
 * Verbs take up to 100 claims of one part and return statuses in their order. Each claim is one
 * atomic step and does not affect the others. A verb that rejects says with `StoreError.outcome`
 * whether it may have been carried out.
 */
export interface Store {
  readonly name: string;
  readonly traits: Traits;
  /**
   * Names the source of tokens; tokens of different lineages do not compare. Known after the first
   * claim.
   */
  readonly lineage: string;
  /**
   * The longest TTL that any user of this store may ask for, because a store that lost its memory
   * grants nothing for this long. Undefined: the option of `createLocks` counts.
   */
  readonly maxTtlMs?: number | undefined;
  /**
   * Names the part of the store that has this resource, such as a slot of a cluster: parts fail one
   * by one, and nothing waits for another part. A pure function; without it the store has one part.
   */
  readonly partOf?: ((resource: string) => string) | undefined;
  /**
   * Most claims of one batch, where several may be under way at once because the store carries out
   * each before the next; a release then waits for no others if the store is synchronous. Default:
   * 100, one batch after the other.
   */
  readonly portion?: number | undefined;
  /** Enters the queue, or returns the status of an id already in it; a repeat extends nothing. */
  claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]>;
  /**
   * Enters all of these tries in one step if each would be admitted at once; otherwise none enters,
   * and at least one says why. Resources are different, and of one part. May be repeated: one that
   * is there keeps its place.
   */
  claimAll?(claims: readonly Claim[]): Promise<readonly ClaimStatus[]>;
  /** Heartbeat and status in one. Never revives a claim and never changes its permits. */
  renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]>;
  /**
   * Leaves the queue. With `after`, the claim ends that much later and takes no more heartbeats.
   */
  release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<readonly boolean[]>;
  inspect(resource: string): Promise<Queue>;
  /**
   * Calls `wake` when the claim is admitted, becomes the first waiter or, while held, gets its
   * first waiter. Hints may be lost or repeated. Subscribe before claiming. A `Disposable` says
   * that no hint can be missed from now on; a promise says so when it resolves.
   */
  watch?(claim: Claim, wake: Wake): Subscribed;
  /** Turns a held write claim into a read claim with the same token; idempotent. */
  downgrade?(claim: Claim): Promise<ClaimStatus>;
  /**
   * Raises the number of each held claim to at least the given one, so that every claim that is
   * admitted to the resource later has a greater one; waiting claims may get theirs then. It never
   * lowers a number and is no heartbeat; idempotent. Members of a quorum need it, for tokens that
   * grow although other members grant each hold.
   */
  raise?(claims: readonly Claim[], numbers: readonly bigint[]): Promise<readonly ClaimStatus[]>;
  /**
   * Ends the claim with this public number: with its TTL, or `now`. False if there is none. The
   * claim's status is then `gone`, `evicted`, with the reason as its detail.
   */
  evict?(resource: string, number: bigint, eviction: Eviction): Promise<boolean>;
  /**
   * Keeps a text about the claim's resource for so long from now, in place of the one before, if
   * the claim is held: both in one step. 0 ms forgets it. False if `renew` would not return
   * `held`: an evicted claim keeps nothing, even before the next one holds. May be repeated, and
   * be under way beside a heartbeat. A record is in no queue: it outlives the claim, delays no
   * claim, and is not listed.
   */
  keep?(claim: Claim, record: RecordTerms): Promise<boolean>;
  /** The record of the resource; undefined if there is none. */
  recall?(resource: string): Promise<Kept | undefined>;
  /**
   * Passes the hold from one id to the other in one step: it keeps its place and number, and gets
   * the claim's whole TTL and its holder; the old id leaves a tombstone. Given, it is `gone`,
   * `handed-over`: it takes no heartbeats, and ends with its life as `handed-over` unless it is
   * taken. Taken, it is `held`, and others who come to take it are told `resumed`. May be repeated.
   */
  handOver?(claim: Claim, ids: HandOver): Promise<ClaimStatus>;
  list?(prefix: string): AsyncIterable<string>;
  close?(): Promise<void>;
}

/** The verbs that a store may lack. */
export const OPTIONAL_VERBS = [
  'claimAll',
  'watch',
  'downgrade',
  'raise',
  'evict',
  'keep',
  'recall',
  'handOver',
  'list',
] as const;
export type OptionalVerb = (typeof OPTIONAL_VERBS)[number];

/** Permits of a write lock, and the limit of a read-write queue. */
export const MAX_PERMITS: number = 2 ** 30;

/** Most claims in one verb's batch. */
export const MAX_BATCH = 100;

/** Longest text that is kept, in bytes of UTF-8. */
export const MAX_KEPT_BYTES: number = 16 * 1024;

/** Longest time for which it is kept, in ms: ten years. More would be a mistake. */
export const MAX_KEPT_MS: number = 3660 * 86_400_000;
