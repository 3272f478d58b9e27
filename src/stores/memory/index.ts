/**
 * Locks inside one process; also the reference that other stores are compared with.
 *
 * Invariant: a queue holds claims in order of arrival, the admitted ones in front, and is settled
 * at the end of every step: its dead are gone and everybody who fits is admitted. Each step
 * runs to its end without yielding, so no two interleave. Dead claims are only looked for in the
 * queue that a step touches, so that the next claim learns how the hold before it ended.
 * Tokens are a counter of arrivals: admission goes in that order, so they grow from holder to holder.
 * What would break it: a step that awaits in the middle.
 */
import { admissible, limitOf, sameQueue } from '../../admission.ts';
import { type Clock, systemClock } from '../../clock.ts';
import { type Duration, parseDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import type {
  Claim,
  ClaimStatus,
  GoneReason,
  Queue,
  Store,
  Takeover,
  Traits,
  Wake,
} from '../../store.ts';
import { type Entry, endOf, memberOf, newLineage, retry } from './entry.ts';

export interface MemoryStoreOptions {
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
  /** How long `forget()` keeps everybody waiting; default 30 s, the default of `maxTtl`. */
  readonly quarantine?: Duration;
  readonly clock?: Clock;
}

/** A store in this process's memory. `forget()` loses everything, as a crashed server would. */
export interface MemoryStore extends Store {
  forget(): void;
}

const TRAITS: Traits = {
  queue: true,
  tokens: 'counter',
  atomicTry: true,
  liveness: 'ttl',
  clock: 'process',
  failover: 'none',
  reach: 'process',
  records: false,
  ttlStepMs: 1,
  synchronous: true,
  sequential: true,
  hintsGrant: true,
};

/** Locks between the tasks of one process. */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new Memory(options);
}

class Memory implements MemoryStore {
  readonly name = 'memory';
  readonly traits: Traits = TRAITS;
  lineage: string = newLineage();
  readonly #clock: Clock;
  readonly #maxWaiters: number;
  readonly #quarantineMs: number;
  readonly #queues = new Map<string, Entry[]>();
  readonly #tombstones = new Map<string, { readonly why: GoneReason; readonly until: number }>();
  readonly #wakes = new Map<string, Wake>();
  #last = 0n;
  #quarantinedUntil = Number.NEGATIVE_INFINITY;

  constructor({ clock = systemClock(), maxWaiters = 10_000, quarantine }: MemoryStoreOptions) {
    if (!Number.isInteger(maxWaiters) || maxWaiters < 0) {
      throw new UsageError(`maxWaiters must be a whole number, not ${maxWaiters}.`);
    }
    this.#clock = clock;
    this.#maxWaiters = maxWaiters;
    this.#quarantineMs = parseDuration(quarantine ?? 30_000, 'quarantine');
  }

  async claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return claims.map((claim) => this.#enter(claim));
  }

  async renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return claims.map((claim) => this.#beat(claim));
  }

  async release(
    claims: readonly Claim[],
    after?: { readonly ms: number },
  ): Promise<readonly boolean[]> {
    return claims.map((claim) => this.#leave(claim, after?.ms ?? 0));
  }

  async inspect(resource: string): Promise<Queue> {
    const queue = this.#settled(resource);
    const limit = queue.length > 0 ? limitOf(queue) : undefined;
    const now = this.#clock.now();
    const members = queue.map((entry) => memberOf(entry, now));
    const holders = members.filter((_, i) => queue[i]?.admitted);
    return { resource, limit, holders, waiters: members.slice(holders.length) };
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    this.#wakes.set(claim.id, wake);
    return { [Symbol.asyncDispose]: async () => void this.#wakes.delete(claim.id) };
  }

  async downgrade(claim: Claim): Promise<ClaimStatus> {
    const queue = this.#settled(claim.resource);
    const entry = queue.find((each) => each.id === claim.id);
    if (!entry) return this.#missing(claim.id);
    if (entry.kind === 'write' && entry.admitted) {
      entry.kind = 'read';
      entry.permits = 1;
      this.#settle(claim.resource, queue);
    }
    return this.#statusOf(queue, entry);
  }

  async evict(
    resource: string,
    number: bigint,
    { now }: { readonly now: boolean },
  ): Promise<boolean> {
    const queue = this.#settled(resource);
    const entry = queue.find((each) => each.number === number);
    if (!entry) return false;
    entry.sealed = 'evicted';
    const wake = this.#wakes.get(entry.id);
    if (wake) queueMicrotask(() => wake());
    if (now || !entry.admitted) {
      this.#bury(entry.id, entry.ttlMs, 'evicted');
      this.#remove(resource, queue, entry);
    }
    return true;
  }

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    for (const resource of [...this.#queues.keys()]) {
      if (resource.startsWith(prefix) && this.#settled(resource).length > 0) yield resource;
    }
  }

  forget(): void {
    this.#queues.clear();
    this.#tombstones.clear();
    this.lineage = newLineage();
    this.#last = 0n;
    this.#quarantinedUntil = this.#clock.now() + this.#quarantineMs;
  }

  #enter(claim: Claim): ClaimStatus {
    const now = this.#clock.now();
    const buried = this.#tombstones.get(claim.id);
    if (buried && buried.until > now) return { state: 'gone', why: buried.why };
    const queue = this.#queues.get(claim.resource) ?? [];
    const alive = queue.filter((entry) => entry.expiresAt > now);
    const own = alive.find((entry) => entry.id === claim.id);
    if (own) return this.#statusOf(queue, own);
    const other = alive.find((entry) => !sameQueue(entry.kind, claim.kind));
    if (other) {
      return { state: 'gone', why: 'mismatch', detail: `its queue holds ${other.kind} claims` };
    }
    const { id, kind, permits, limit, ttlMs, holder } = claim;
    const entry: Entry = {
      ...{ id, kind, permits, limit, ttlMs, holder },
      ...{ number: ++this.#last, admitted: false, first: false, expiresAt: now + ttlMs },
    };
    queue.push(entry);
    this.#queues.set(claim.resource, queue);
    this.#settle(claim.resource, queue, { entering: entry });
    return entry.admitted ? this.#statusOf(queue, entry) : this.#stay(claim, queue, entry);
  }

  /** A new claim has to wait: it may not want to, or there may be no room. */
  #stay(claim: Claim, queue: Entry[], entry: Entry): ClaimStatus {
    const waiting = queue.filter((each) => !each.admitted).length;
    if (claim.queue && waiting <= this.#maxWaiters) {
      if (waiting === 1)
        for (const holder of queue) if (holder !== entry) this.#hint(queue, holder);
      return this.#statusOf(queue, entry);
    }
    queue.pop();
    if (queue.length === 0) this.#queues.delete(claim.resource);
    if (!claim.queue) return { state: 'gone', why: 'refused' };
    return { state: 'gone', why: 'full', detail: `maxWaiters is ${this.#maxWaiters}` };
  }

  #beat(claim: Claim): ClaimStatus {
    const queue = this.#settled(claim.resource);
    const entry = queue.find((each) => each.id === claim.id);
    if (!entry) return this.#missing(claim.id);
    if (!entry.sealed) entry.expiresAt = this.#clock.now() + claim.ttlMs;
    return this.#statusOf(queue, entry);
  }

  #leave(claim: Claim, afterMs: number): boolean {
    const queue = this.#settled(claim.resource);
    const entry = queue.find((each) => each.id === claim.id);
    if (!entry || claim.unanswered) this.#bury(claim.id, claim.ttlMs, 'unknown');
    if (!entry) return false;
    if (afterMs > 0 && entry.admitted) {
      entry.sealed ??= 'unknown';
      entry.expiresAt = this.#clock.now() + afterMs;
    } else this.#remove(claim.resource, queue, entry);
    return true;
  }

  #remove(resource: string, queue: Entry[], entry: Entry): void {
    queue.splice(queue.indexOf(entry), 1);
    const reason = entry.sealed === 'evicted' ? 'evicted' : 'released';
    this.#settle(resource, queue, {
      ended: entry.admitted ? { reason, token: entry.number } : undefined,
    });
  }

  #bury(id: string, ttlMs: number, why: GoneReason): void {
    const now = this.#clock.now();
    for (const [other, { until }] of this.#tombstones) {
      if (until > now) break;
      this.#tombstones.delete(other);
    }
    this.#tombstones.set(id, { why, until: now + ttlMs });
  }

  #missing(id: string): ClaimStatus {
    const lost = this.#clock.now() < this.#quarantinedUntil ? 'store-reset' : 'expired';
    return { state: 'gone', why: this.#tombstones.get(id)?.why ?? lost };
  }

  #settled(resource: string): Entry[] {
    const queue = this.#queues.get(resource) ?? [];
    this.#settle(resource, queue);
    return queue;
  }

  /** Buries the dead of a queue, admits who fits, and tells exactly those whom it concerns. */
  #settle(
    resource: string,
    queue: Entry[],
    { ended, entering }: { ended?: Takeover | undefined; entering?: Entry } = {},
  ): void {
    const now = this.#clock.now();
    let takeover = ended;
    for (let i = queue.length - 1; i >= 0; i--) {
      const entry = queue[i] as Entry;
      if (entry.expiresAt > now) continue;
      queue.splice(i, 1);
      if (entry.admitted && !takeover) takeover = { reason: endOf(entry), token: entry.number };
    }
    if (queue.length === 0) this.#queues.delete(resource);
    const waiting = queue.filter((entry) => !entry.admitted);
    const fits = now < this.#quarantinedUntil ? 0 : admissible(queue);
    for (const entry of waiting.splice(0, fits)) {
      entry.admitted = true;
      if (takeover) entry.takeover = takeover;
      if (entry !== entering) this.#hint(queue, entry);
    }
    const [first] = waiting;
    if (first && !first.first && first !== entering) this.#hint(queue, first);
    if (first) first.first = true;
  }

  #hint(queue: Entry[], entry: Entry): void {
    const wake = this.#wakes.get(entry.id);
    if (wake) queueMicrotask(() => wake(this.#statusOf(queue, entry)));
  }

  #statusOf(queue: Entry[], entry: Entry): ClaimStatus {
    if (entry.sealed) return { state: 'gone', why: entry.sealed };
    const now = this.#clock.now();
    const at = queue.indexOf(entry);
    const leftMs = entry.expiresAt - now;
    const inForce = limitOf(queue.slice(0, at + 1));
    const limit = inForce < entry.limit ? inForce : undefined;
    if (entry.admitted) {
      const waiters = queue.reduce((sum, other) => sum + (other.admitted ? 0 : 1), 0);
      const { takeover } = entry;
      return { state: 'held', token: entry.number, leftMs, waiters, takeover, limit };
    }
    const quarantineMs = this.#quarantinedUntil - now;
    const why = quarantineMs > 0 ? 'data-loss' : 'queue';
    const retryInMs = quarantineMs > 0 ? quarantineMs : retry(queue, at, now);
    return { state: 'waiting', leftMs, why, ahead: at, retryInMs, limit };
  }
}
