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
  Holder,
  Kind,
  Member,
  Queue,
  Store,
  Takeover,
  Traits,
  Wake,
} from '../../store.ts';

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

interface Entry {
  readonly id: string;
  readonly number: bigint;
  readonly limit: number;
  readonly ttlMs: number;
  readonly holder: Holder;
  kind: Kind;
  permits: number;
  admitted: boolean;
  expiresAt: number;
  /** It knows that it is the first waiter. */
  first: boolean;
  /** Takes no more heartbeats: evicted, or released with `after`. */
  sealed?: GoneReason;
  takeover?: Takeover;
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

let instances = 0;

/** Locks between the tasks of one process. */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const clock = options.clock ?? systemClock();
  const maxWaiters = options.maxWaiters ?? 10_000;
  if (!Number.isInteger(maxWaiters) || maxWaiters < 0) {
    throw new UsageError(`maxWaiters must be a whole number, not ${maxWaiters}.`);
  }
  const quarantineMs = parseDuration(options.quarantine ?? 30_000, 'quarantine');
  let lineage = newLineage();
  let last = 0n;
  let quarantinedUntil = Number.NEGATIVE_INFINITY;
  const queues = new Map<string, Entry[]>();
  const gone = new Map<string, { readonly why: GoneReason; readonly until: number }>();
  /** Holds that ended without a release and whose successor is still to come. */
  const unclean = new Map<string, Takeover>();
  const wakes = new Map<string, Wake>();

  /** Buries the dead of a queue, admits who fits, and tells exactly those it concerns. */
  function settle(resource: string, queue: Entry[], ended?: Takeover, told?: Entry): void {
    const now = clock.now();
    let takeover = unclean.get(resource) ?? ended;
    for (let i = queue.length - 1; i >= 0; i--) {
      const entry = queue[i] as Entry;
      if (entry.expiresAt > now) continue;
      queue.splice(i, 1);
      if (entry.admitted && !takeover) takeover = { reason: endOf(entry), token: entry.number };
    }
    const waiting = queue.filter((entry) => !entry.admitted);
    const admitted = waiting.splice(0, now < quarantinedUntil ? 0 : admissible(queue));
    if (admitted.length > 0) unclean.delete(resource);
    else if (takeover && takeover.reason !== 'released') unclean.set(resource, takeover);
    if (queue.length === 0) return void queues.delete(resource);
    for (const entry of admitted) {
      entry.admitted = true;
      if (takeover) entry.takeover = takeover;
      if (entry !== told) hint(queue, entry, now);
    }
    const [first] = waiting;
    if (first && !first.first && first !== told) hint(queue, first, now);
    if (first) first.first = true;
  }

  function hint(queue: Entry[], entry: Entry, now: number): void {
    const wake = wakes.get(entry.id);
    if (wake) queueMicrotask(() => wake(statusOf(queue, entry, now)));
  }

  function statusOf(queue: Entry[], entry: Entry, now: number): ClaimStatus {
    if (entry.sealed) return { state: 'gone', why: entry.sealed };
    const at = queue.indexOf(entry);
    const leftMs = entry.expiresAt - now;
    const inForce = limitOf(queue.slice(0, at + 1));
    const limit = inForce < entry.limit ? inForce : undefined;
    if (entry.admitted) {
      const waiters = queue.reduce((sum, other) => sum + (other.admitted ? 0 : 1), 0);
      const { takeover } = entry;
      return { state: 'held', token: entry.number, leftMs, waiters, takeover, limit };
    }
    if (now < quarantinedUntil) {
      const retryInMs = quarantinedUntil - now;
      return { state: 'waiting', leftMs, why: 'data-loss', ahead: at, retryInMs, limit };
    }
    return {
      state: 'waiting',
      leftMs,
      why: 'queue',
      ahead: at,
      retryInMs: retry(queue, at, now),
      limit,
    };
  }

  /** The first waiter waits for the earliest death among the holders, others for that of the one before. */
  function retry(queue: Entry[], at: number, now: number): number {
    const before = queue[at - 1];
    const watched = !before || before.admitted ? queue.slice(0, at) : [before];
    return Math.min(...watched.map((entry) => entry.expiresAt)) - now;
  }

  function enter(claim: Claim): ClaimStatus {
    const now = clock.now();
    const buried = gone.get(claim.id);
    if (buried && buried.until > now) return { state: 'gone', why: buried.why };
    const queue = queues.get(claim.resource) ?? [];
    const own = queue.find((entry) => entry.id === claim.id);
    if (own && own.expiresAt > now) return statusOf(queue, own, now);
    const other = queue.find(
      (entry) => entry.expiresAt > now && !sameQueue(entry.kind, claim.kind),
    );
    if (other) {
      return { state: 'gone', why: 'mismatch', detail: `its queue holds ${other.kind} claims` };
    }
    const entry: Entry = {
      id: claim.id,
      number: ++last,
      limit: claim.limit,
      ttlMs: claim.ttlMs,
      holder: claim.holder,
      kind: claim.kind,
      permits: claim.permits,
      admitted: false,
      first: false,
      expiresAt: now + claim.ttlMs,
    };
    queue.push(entry);
    queues.set(claim.resource, queue);
    settle(claim.resource, queue, undefined, entry);
    if (entry.admitted) return statusOf(queue, entry, now);
    const waiting = queue.filter((each) => !each.admitted);
    if (!claim.queue || waiting.length > maxWaiters) {
      queue.pop();
      if (queue.length === 0) queues.delete(claim.resource);
      if (!claim.queue) return { state: 'gone', why: 'refused' };
      return { state: 'gone', why: 'full', detail: `maxWaiters is ${maxWaiters}` };
    }
    if (waiting.length === 1)
      for (const holder of queue) if (holder !== entry) hint(queue, holder, now);
    return statusOf(queue, entry, now);
  }

  function find(claim: Claim): { queue: Entry[]; entry: Entry } | undefined {
    const queue = queues.get(claim.resource);
    if (!queue) return undefined;
    settle(claim.resource, queue);
    const entry = queue.find((each) => each.id === claim.id);
    return entry && { queue, entry };
  }

  function beat(claim: Claim): ClaimStatus {
    const found = find(claim);
    const now = clock.now();
    if (!found) {
      const lost = now < quarantinedUntil ? 'store-reset' : 'expired';
      return { state: 'gone', why: gone.get(claim.id)?.why ?? lost };
    }
    const { queue, entry } = found;
    if (!entry.sealed) entry.expiresAt = now + claim.ttlMs;
    return statusOf(queue, entry, now);
  }

  function bury(id: string, ttlMs: number, why: GoneReason): void {
    const now = clock.now();
    for (const [other, { until }] of gone) {
      if (until > now) break;
      gone.delete(other);
    }
    gone.set(id, { why, until: now + ttlMs });
  }

  function remove(
    resource: string,
    queue: Entry[],
    entry: Entry,
    reason: Takeover['reason'],
  ): void {
    queue.splice(queue.indexOf(entry), 1);
    settle(resource, queue, entry.admitted ? { reason, token: entry.number } : undefined);
  }

  function leave(claim: Claim, afterMs: number): boolean {
    const found = find(claim);
    if (!found || claim.unanswered) bury(claim.id, claim.ttlMs, 'unknown');
    if (!found) return false;
    const { queue, entry } = found;
    if (afterMs > 0 && entry.admitted) {
      const end = clock.now() + afterMs;
      entry.expiresAt = entry.sealed ? Math.min(entry.expiresAt, end) : end;
      entry.sealed ??= 'unknown';
    } else {
      remove(claim.resource, queue, entry, entry.sealed === 'evicted' ? 'evicted' : 'released');
    }
    return true;
  }

  function members(queue: Entry[], admitted: boolean): Member[] {
    const now = clock.now();
    return queue
      .filter((entry) => entry.admitted === admitted)
      .map((entry) => ({
        number: entry.number,
        kind: entry.kind,
        permits: entry.permits,
        ttlMs: entry.ttlMs,
        leftMs: entry.expiresAt - now,
        holder: entry.holder,
      }));
  }

  return {
    name: 'memory',
    traits: TRAITS,
    get lineage() {
      return lineage;
    },
    claim: async (claims) => claims.map(enter),
    renew: async (claims) => claims.map(beat),
    release: async (claims, after) => claims.map((claim) => leave(claim, after?.ms ?? 0)),
    async inspect(resource): Promise<Queue> {
      const queue = queues.get(resource) ?? [];
      settle(resource, queue);
      const limit = queue.length > 0 ? limitOf(queue) : undefined;
      return { resource, limit, holders: members(queue, true), waiters: members(queue, false) };
    },
    async watch(claim, wake) {
      wakes.set(claim.id, wake);
      return { [Symbol.asyncDispose]: async () => void wakes.delete(claim.id) };
    },
    async downgrade(claim) {
      const found = find(claim);
      if (!found) return { state: 'gone', why: 'expired' };
      const { queue, entry } = found;
      if (entry.kind === 'write' && entry.admitted) {
        entry.kind = 'read';
        entry.permits = 1;
        settle(claim.resource, queue);
      }
      return statusOf(queue, entry, clock.now());
    },
    async evict(resource, number, { now }) {
      const queue = queues.get(resource) ?? [];
      settle(resource, queue);
      const entry = queue.find((each) => each.number === number);
      if (!entry) return false;
      entry.sealed = 'evicted';
      const wake = wakes.get(entry.id);
      if (wake) queueMicrotask(() => wake());
      if (now || !entry.admitted) {
        bury(entry.id, entry.ttlMs, 'evicted');
        remove(resource, queue, entry, 'evicted');
      }
      return true;
    },
    async *list(prefix) {
      for (const [resource, queue] of queues) {
        settle(resource, queue);
        if (queue.length > 0 && resource.startsWith(prefix)) yield resource;
      }
    },
    forget() {
      queues.clear();
      gone.clear();
      unclean.clear();
      lineage = newLineage();
      last = 0n;
      quarantinedUntil = clock.now() + quarantineMs;
    },
  };
}

function endOf(entry: Entry): Takeover['reason'] {
  if (entry.sealed === 'evicted') return 'evicted';
  return entry.sealed ? 'released' : 'expired';
}

function newLineage(): string {
  return `memory:${process.pid}:${Date.now().toString(36)}:${++instances}`;
}
