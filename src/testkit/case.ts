/** Cases: what they promise and need, and the assertions that they make. */
import assert from 'node:assert/strict';
import {
  type Claim,
  type ClaimStatus,
  type GoneReason,
  type GoneStatus,
  type HeldStatus,
  OPTIONAL_VERBS,
  type OptionalVerb,
  type Traits,
  type WaitingStatus,
} from '../contract/store.ts';
import type { FixtureOptions, TestBed } from './test-bed.ts';

/** Who a claim is, and what a case about it needs. */
export const WHO = { holder: [], waiter: ['queue'] } as const;

/** How a hold ends, and what a case about it needs. */
export const ENDS = { released: [], expired: [], evicted: ['evict', 'tokens'] } as const;

/** What a case needs of a store; without it the suite skips the case and shows the reason. */
export type Need = Trait | OptionalVerb;

type Trait =
  | 'queue'
  | 'permits'
  | 'replaces'
  | 'tokens'
  | 'atomic try'
  | 'traces of the dead'
  | 'sequential batches'
  | 'granting hints'
  | 'data loss'
  | 'trust'
  | 'leaps of time'
  | 'holders as they are';

/** One promise, checked. */
export interface Case {
  /** The promise, as a sentence about the store or the locks. */
  readonly name: string;
  readonly needs?: readonly Need[];
  /** What the fixture must be like. */
  readonly fixture?: FixtureOptions;
  /** How long it may take, in ms of its clock; default twice the suite's `patienceMs`. */
  readonly limitMs?: number;
  run(bed: TestBed): Promise<void>;
}

/** A case on any fixture. */
export function check(name: string, run: CaseBody): Case;
export function check(name: string, needs: readonly Need[], run: CaseBody): Case;
export function check(name: string, given: readonly Need[] | CaseBody, run?: CaseBody): Case {
  if (typeof given === 'function') return { name, run: given };
  return { name, needs: given, run: run as CaseBody };
}

type CaseBody = Case['run'];

/** Cases about one thing. */
export interface Topic {
  readonly topic: string;
  /** The sentence of the contract that the cases check; a failure quotes it. */
  readonly promise?: string;
  readonly needs?: readonly Need[];
  readonly cases: readonly Case[];
}

/** What a store promises, and what its fixtures can do. */
export interface Declared {
  /** What the store promises; compared with its own `traits`. */
  readonly traits: Traits;
  /** Optional verbs that the store does not have; default none. */
  readonly lacks?: readonly OptionalVerb[];
  /** The fixtures have `forget()`; default false: no case makes the store lose its data. */
  readonly forgets?: boolean;
  /** The fixtures have `trusting()`; default false: all programs wait after a loss of data. */
  readonly trusts?: boolean;
  /** The fixtures have `leap()`; default false: no case lets a life of minutes end. */
  readonly leaps?: boolean;
  /**
   * The store shares the layout of another library, which has no room for the label and the TTL of
   * a holder; default false.
   */
  readonly anonymous?: boolean;
}

const MISSING: Readonly<Record<Trait, (declared: Declared) => string | false | undefined>> = {
  queue: ({ traits }) => !traits.queue && 'the store keeps no queue',
  permits: ({ traits }) => !traits.permits && 'the store lets one in at a time',
  replaces: ({ traits }) => !traits.replaces && 'no claim replaces others on this store',
  tokens: ({ traits }) => traits.tokens === undefined && 'the store gives no tokens',
  'atomic try': ({ traits }) => !traits.atomicTry && 'a try may fail spuriously on this store',
  'traces of the dead': ({ traits }) =>
    traits.liveness === 'session' && 'a hold that ends with its session leaves no trace',
  'sequential batches': ({ traits }) => !traits.sequential && 'a batch takes each resource once',
  'granting hints': ({ traits }) => !traits.hintsGrant && 'a hint is no grant on this store',
  'data loss': ({ forgets }) => !forgets && 'the store cannot be made to lose its memory',
  trust: ({ trusts }) => !trusts && 'all programs wait after a loss of data',
  'leaps of time': ({ leaps }) => !leaps && "the store's clock cannot be moved",
  'holders as they are': ({ anonymous }) =>
    anonymous && 'the layout that the store shares has no room for labels and TTLs',
};

/** Why a case cannot run on a store, or undefined if it can. */
export function missing(needs: Iterable<Need>, store: Declared): string | undefined {
  for (const need of needs) {
    const reason = isVerb(need)
      ? store.lacks?.includes(need) && `the store has no ${need}()`
      : MISSING[need](store);
    if (reason) return reason;
  }
  return undefined;
}

function isVerb(need: Need): need is OptionalVerb {
  return (OPTIONAL_VERBS as readonly string[]).includes(need);
}

/** A new claim, which is held at once, and how. */
export async function hold(
  bed: TestBed,
  over: Partial<Claim> = {},
): Promise<HeldStatus & { readonly claim: Claim }> {
  const claim = bed.claim(over);
  return { claim, ...held(await bed.enter(claim)) };
}

/** Returns the status with its type narrowed, as those below. */
export function held(status: ClaimStatus | undefined): HeldStatus {
  if (status?.state !== 'held') assert.fail(`expected a held claim, got ${show(status)}`);
  assert.equal(typeof status.token, 'bigint', 'a token is a bigint');
  assert.ok(status.leftMs > 0, `a held claim has life left, not ${status.leftMs} ms`);
  return status;
}

export function waiting(status: ClaimStatus | undefined): WaitingStatus {
  if (status?.state !== 'waiting') assert.fail(`expected a waiting claim, got ${show(status)}`);
  assert.ok(status.leftMs > 0, `a waiting claim has life left, not ${status.leftMs} ms`);
  assert.ok(status.retryInMs >= 0, `retryInMs is a delay, not ${status.retryInMs}`);
  return status;
}

/** @param why if given, the only acceptable reason. */
export function gone(status: ClaimStatus | undefined, why?: GoneReason): GoneStatus {
  if (status?.state !== 'gone') assert.fail(`expected a claim that is gone, got ${show(status)}`);
  if (why !== undefined) assert.equal(status.why, why);
  return status;
}

/** Returns the second token, which must be the greater one. */
export function grown(before: bigint, token: bigint): bigint {
  assert.ok(token > before, `${token} after ${before}`);
  return token;
}

export function states(statuses: readonly ClaimStatus[]): string {
  return statuses.map((status) => status.state).join(' ');
}

export function show(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? `${each}n` : each));
}
