/**
 * The queues of a lock server. Each verb is one step, because nothing here awaits.
 *
 * Invariant: a queue holds its claims in order of arrival, the admitted ones in front, and after
 * `settle` nobody in it is dead and nobody waits who fits. Numbers grow from claim to claim, and
 * start from the time of day, so that they go on growing when the server starts anew.
 */
import type { Member, Queue, Takeover } from 'holdfast';
import {
  admissible,
  type Claim,
  type ClaimStatus,
  type GoneStatus,
  limitOf,
  sameQueue,
} from 'holdfast/store';

interface Entry extends Claim {
  readonly number: bigint;
  admitted: boolean;
  expiresAt: number;
  takeover?: Takeover | undefined;
  /** Released with `after`: it takes no more heartbeats. */
  sealed?: boolean;
}

const GONE: GoneStatus = { state: 'gone', why: 'unknown' };

/** There are no hints: who waits asks again after so many ms. */
const POLL_MS = 25;

export class Queues {
  readonly #maxWaiters: number;
  readonly #queues = new Map<string, Entry[]>();
  /** How the last hold of a resource ended, as long as nobody has taken over its work. */
  readonly #unfinished = new Map<string, Takeover>();
  /** Released claims of which a copy may still arrive, and until when. */
  readonly #tombstones = new Map<string, number>();
  #last = 0n;

  constructor(maxWaiters: number) {
    this.#maxWaiters = maxWaiters;
  }

  claim(claim: Claim): ClaimStatus {
    const now = performance.now();
    const queue = this.#settle(claim.resource, now);
    if ((this.#tombstones.get(claim.id) ?? 0) > now) return GONE;
    const own = queue.find(({ id }) => id === claim.id);
    if (own) return statusOf(own, queue, now);
    const misfit = queue.find(({ kind }) => !sameQueue(kind, claim.kind));
    if (misfit) return { state: 'gone', why: 'mismatch', detail: `it holds ${misfit.kind} claims` };
    const wall = BigInt(Date.now()) * 1000n;
    this.#last = this.#last < wall ? wall : this.#last + 1n;
    const entry = { ...claim, number: this.#last, admitted: false, expiresAt: now + claim.ttlMs };
    queue.push(entry);
    this.#settle(claim.resource, now, queue);
    const waiters = queue.filter(({ admitted }) => !admitted).length;
    if (entry.admitted || (claim.queue && waiters <= this.#maxWaiters)) {
      return statusOf(entry, queue, now);
    }
    queue.pop();
    return { state: 'gone', why: claim.queue ? 'full' : 'refused' };
  }

  renew({ resource, id, ttlMs }: Claim): ClaimStatus {
    const now = performance.now();
    const queue = this.#settle(resource, now);
    const own = queue.find((entry) => entry.id === id);
    if (!own) return { state: 'gone', why: 'expired' };
    if (!own.sealed) own.expiresAt = now + ttlMs;
    return statusOf(own, queue, now);
  }

  release({ resource, id, ttlMs, unanswered }: Claim, afterMs: number): boolean {
    const now = performance.now();
    const queue = this.#settle(resource, now);
    const own = queue.find((entry) => entry.id === id);
    if (!own || unanswered) this.#tombstones.set(id, now + ttlMs);
    if (!own) return false;
    if (own.admitted && afterMs > 0) {
      if (!own.sealed) own.expiresAt = now + afterMs;
      own.sealed = true;
      return true;
    }
    queue.splice(queue.indexOf(own), 1);
    if (own.admitted) this.#unfinished.set(resource, { reason: 'released', token: own.number });
    this.#settle(resource, now, queue);
    return true;
  }

  inspect(resource: string): Queue {
    const now = performance.now();
    const queue = this.#settle(resource, now);
    const members = (held: boolean): Member[] =>
      queue
        .filter(({ admitted }) => admitted === held)
        .map(({ number, kind, permits, ttlMs, holder, expiresAt }) => {
          return { number, kind, permits, ttlMs, holder, leftMs: expiresAt - now };
        });
    const limit = queue.length > 0 ? limitOf(queue) : undefined;
    return { resource, limit, holders: members(true), waiters: members(false) };
  }

  /** Forgets what nobody can ask for any more; to be called now and then. */
  sweep(): void {
    const now = performance.now();
    for (const [id, until] of this.#tombstones) if (until <= now) this.#tombstones.delete(id);
    for (const resource of this.#queues.keys()) this.#settle(resource, now);
  }

  /** Buries the dead and admits who fits. */
  #settle(resource: string, now: number, queue = this.#queues.get(resource) ?? []): Entry[] {
    for (const dead of queue.filter(({ expiresAt }) => expiresAt <= now)) {
      queue.splice(queue.indexOf(dead), 1);
      const reason = dead.sealed ? 'released' : 'expired';
      if (dead.admitted) this.#unfinished.set(resource, { reason, token: dead.number });
    }
    const takeover = this.#unfinished.get(resource);
    const waiters = queue.filter(({ admitted }) => !admitted);
    for (const next of waiters.slice(0, admissible(queue))) {
      Object.assign(next, { admitted: true, takeover });
    }
    const held = queue.some(({ admitted }) => admitted);
    if (held || takeover?.reason === 'released') this.#unfinished.delete(resource);
    if (queue.length > 0) this.#queues.set(resource, queue);
    else this.#queues.delete(resource);
    return queue;
  }
}

function statusOf(entry: Entry, queue: readonly Entry[], now: number): ClaimStatus {
  if (entry.sealed) return GONE;
  const { number: token, takeover } = entry;
  const leftMs = entry.expiresAt - now;
  const holders = queue.filter(({ admitted }) => admitted);
  const inForce = limitOf([...holders, entry]);
  const limit = inForce < entry.limit ? inForce : undefined;
  const waiters = queue.length - holders.length;
  if (entry.admitted) return { state: 'held', token, leftMs, waiters, takeover, limit };
  return { state: 'waiting', why: 'queue', leftMs, retryInMs: POLL_MS, limit };
}
