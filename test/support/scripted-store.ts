import type { Locks, LocksOptions, Queue, Store, Traits } from 'holdfast';
import { createLocks, StoreError } from 'holdfast';
import type {
  Claim,
  ClaimStatus,
  Eviction,
  HandOver,
  HeldStatus,
  WaitingStatus,
  Wake,
} from 'holdfast/store';
import { type TestAPI, test } from 'vitest';
import { FakeClock } from './fake-clock.ts';

type Verb =
  | 'claim'
  | 'claimAll'
  | 'renew'
  | 'release'
  | 'downgrade'
  | 'inspect'
  | 'evict'
  | 'handOver';

export interface Call {
  readonly verb: Verb;
  readonly at: number;
  readonly claims: readonly Claim[];
  readonly afterMs: number | undefined;
}

/** What the test answers; what it throws fails the whole request. */
type Answer<R> = (claim: Claim, call: Call) => R | Promise<R>;

const TRAITS: Traits = {
  ...{ queue: true, permits: true, tokens: 'script', atomicTry: true, liveness: 'ttl' },
  ...{ clock: 'server', failover: 'none', reach: 'network', records: false, ttlStepMs: 1 },
  ...{ synchronous: false, sequential: false, hintsGrant: true },
};

/**
 * The other side of the contract: records what core sends, and answers as the test says. Left
 * alone, it grants everything.
 */
export class ScriptedStore implements Store {
  readonly name = 'scripted';
  readonly lineage = 'scripted:1';
  readonly traits: Traits;
  /** Undefined: it has one part. */
  partOf: Store['partOf'];
  portion: Store['portion'];
  /** Undefined, unless a test lets it take several locks in one step. */
  claimAll?: NonNullable<Store['claimAll']>;
  readonly calls: Call[] = [];
  readonly wakes: Map<string, Wake> = new Map();
  closed = 0;
  onClaim: Answer<ClaimStatus> = (claim) => held({ leftMs: claim.ttlMs, token: this.next() });
  onRenew: Answer<ClaimStatus> = (claim) => held({ leftMs: claim.ttlMs });
  onRelease: Answer<boolean> = () => true;
  onDowngrade: Answer<ClaimStatus> = (claim) => held({ leftMs: claim.ttlMs });
  onHandOver: (claim: Claim, ids: HandOver) => ClaimStatus | Promise<ClaimStatus> = (claim, ids) =>
    claim.id === ids.from ? { state: 'gone', why: 'handed-over' } : held({ leftMs: claim.ttlMs });
  onWatch: () => Promise<void> = () => Promise.resolve();
  onInspect: () => Promise<Omit<Queue, 'resource'>> = async () => ({ holders: [], waiters: [] });
  onEvict: (number: bigint, eviction: Eviction) => Promise<boolean> = async () => true;
  readonly #clock: FakeClock;
  #last = 0n;

  constructor(clock: FakeClock, traits: Partial<Traits> = {}) {
    this.#clock = clock;
    this.traits = { ...TRAITS, ...traits };
  }

  next(): bigint {
    return ++this.#last;
  }

  /** The requests of this verb so far. */
  sent(verb: Verb): Call[] {
    return this.calls.filter((call) => call.verb === verb);
  }

  /** The claims that entered, in order. */
  get entered(): Claim[] {
    return this.sent('claim').flatMap((call) => call.claims);
  }

  claim(claims: readonly Claim[]): Promise<ClaimStatus[]> {
    return this.#answer('claim', claims, this.onClaim);
  }

  /** From now on it takes several in one step; what becomes of each, `onClaim` says. */
  takeTogether(): void {
    this.claimAll = (claims) => this.#answer('claimAll', claims, this.onClaim);
  }

  renew(claims: readonly Claim[]): Promise<ClaimStatus[]> {
    return this.#answer('renew', claims, this.onRenew);
  }

  release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<boolean[]> {
    return this.#answer('release', claims, this.onRelease, after?.ms);
  }

  async downgrade(claim: Claim): Promise<ClaimStatus> {
    const [status] = await this.#answer('downgrade', [claim], this.onDowngrade);
    return status as ClaimStatus;
  }

  async handOver(claim: Claim, ids: HandOver): Promise<ClaimStatus> {
    this.#record('handOver', [claim]);
    return this.onHandOver(claim, ids);
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    this.wakes.set(claim.id, wake);
    await this.onWatch();
    return { [Symbol.asyncDispose]: async () => void this.wakes.delete(claim.id) };
  }

  async inspect(resource: string): Promise<Queue> {
    this.#record('inspect', []);
    return { resource, ...(await this.onInspect()) };
  }

  evict(_: string, number: bigint, eviction: Eviction): Promise<boolean> {
    this.#record('evict', []);
    return this.onEvict(number, eviction);
  }

  async close(): Promise<void> {
    this.closed++;
  }

  async #answer<R>(
    verb: Verb,
    claims: readonly Claim[],
    answer: Answer<R>,
    afterMs?: number,
  ): Promise<R[]> {
    const call = this.#record(verb, claims, afterMs);
    return Promise.all(claims.map((claim) => answer(claim, call)));
  }

  #record(verb: Verb, claims: readonly Claim[], afterMs?: number): Call {
    const call: Call = { verb, claims, afterMs, at: this.#clock.now() };
    this.calls.push(call);
    return call;
  }
}

export interface Bed {
  readonly clock: FakeClock;
  readonly store: ScriptedStore;
  readonly locks: Locks;
  /** Answers after this long. */
  late<T>(ms: number, value: T): Promise<T>;
}

/** Locks with a TTL of 10 s on a scripted store and a fake clock. */
export function setUp(
  traits: Partial<Traits> = {},
  { partOf, portion, ...options }: LocksOptions & Pick<Store, 'partOf' | 'portion'> = {},
): Bed {
  const clock = new FakeClock();
  const store = new ScriptedStore(clock, traits);
  store.partOf = partOf;
  store.portion = portion;
  const locks = createLocks(store, { clock, ...options });
  const late = <T>(ms: number, value: T): Promise<T> =>
    new Promise((resolve) => clock.setTimeout(() => resolve(value), ms).unref());
  return { clock, store, locks, late };
}

interface Given extends Bed {
  readonly bed: Bed;
}

/** A test that gets a bed of its own, or what it names of one; `setUp` is for other terms. */
export const it: TestAPI<Given> = test.extend<Given>({
  bed: ({ task: _ }, give) => give(setUp()),
  clock: ({ bed }, give) => give(bed.clock),
  store: ({ bed }, give) => give(bed.store),
  locks: ({ bed }, give) => give(bed.locks),
  late: ({ bed }, give) => give(bed.late),
});

export function held(over: Partial<HeldStatus> = {}): HeldStatus {
  return { state: 'held', token: 1n, leftMs: 10_000, waiters: 0, ...over };
}

export function waiting(over: Partial<WaitingStatus> = {}): WaitingStatus {
  return { state: 'waiting', leftMs: 10_000, why: 'queue', ahead: 1, retryInMs: 10_000, ...over };
}

/** An answer that never comes. */
export function silence<T>(): Promise<T> {
  return new Promise(() => {});
}

/** A failure that may pass, of unknown outcome unless said otherwise. */
export function failure(over: Partial<Pick<StoreError, 'retryable' | 'outcome'>> = {}): StoreError {
  return new StoreError('broken', { retryable: true, outcome: 'unknown', ...over });
}

type Outcome<T> = { value?: T; error?: unknown; done: boolean };

/** What became of a promise so far. */
export function watchOutcome<T>(promise: Promise<T>): Outcome<T> {
  const outcome: Outcome<T> = { done: false };
  promise.then(
    (value) => Object.assign(outcome, { value, done: true }),
    (error: unknown) => Object.assign(outcome, { error, done: true }),
  );
  return outcome;
}
