/**
 * Locks inside one process; also the reference that other stores are compared with.
 *
 * Invariant: each verb is one step of the queue of its resource (`src/queue`), and runs to its end
 * without yielding, so no two interleave. Numbers are counted for the whole store, so that tokens
 * grow although the store keeps nothing of an idle resource. A queue that is blank serves the next
 * resource: all that it knows is a number that was given before.
 * What would break it: a step that awaits in the middle, or one within another.
 */
import { Answer } from '../../base/answer.ts';
import { type Clock, checkClock, timers } from '../../base/clock.ts';
import { type Duration, duration } from '../../base/duration.ts';
import { type Checked, checkOptions } from '../../base/options.ts';
import { maxWaiters } from '../../contract/admission.ts';
import { refusals } from '../../contract/gone.ts';
import { type Claim, type ClaimStatus, MAX_BATCH, type Store } from '../../contract/store.ts';
import { ClaimQueue } from '../../queue/queue.ts';
import type { Entry } from '../../queue/state.ts';
import type { StoreVerbs } from '../batch.ts';
import { ClaimWakes } from '../subscription.ts';
import { IdleQueues } from './idle-queues.ts';

export interface MemoryStoreOptions {
  /** Longest queue of waiting claims of one resource; default 10,000. */
  readonly maxWaiters?: number;
  /** How long the store grants nothing after `forget()`; default 30 s, the default of `maxTtl`. */
  readonly quarantine?: Duration;
  readonly clock?: Clock;
}

/** A store in this process's memory. `forget()` loses everything, as a crashed server would. */
export interface MemoryStore extends Store {
  forget(): void;
}

/**
 * Locks between the tasks of one process.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { memoryStore } from 'holdfast/memory';
 *
 * const locks = createLocks(memoryStore());
 *
 * @throws UsageError
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new Memory(checkOptions(options, CHECKS, 'memoryStore'));
}

const CHECKS = { maxWaiters, quarantine: duration(30_000), clock: checkClock };

let instances = 0;

/** A new memory is a new source of tokens. */
function newLineage(): string {
  return `memory:${process.pid}:${Date.now().toString(36)}:${++instances}`;
}

class Memory implements MemoryStore {
  readonly name = 'memory';
  readonly traits: Store['traits'] = {
    queue: true,
    permits: true,
    tokens: 'counter',
    atomicTry: true,
    clock: 'process',
    reach: 'process',
    records: true,
    replaces: true,
    synchronous: true,
    sequential: true,
    hintsGrant: true,
  };
  /** No request has to wait for others. */
  readonly portion: number = MAX_BATCH;
  lineage: string = newLineage();
  readonly #options: Checked<typeof CHECKS>;
  readonly #queues = new Map<string, ClaimQueue>();
  readonly #idle = new IdleQueues(this.#queues);
  readonly #wakes = new ClaimWakes();
  /** For a resource without a queue. */
  #blank: ClaimQueue | undefined;
  #last = 0n;
  #closedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: Checked<typeof CHECKS>) {
    this.#options = options;
  }

  readonly claim: StoreVerbs['claim'] = (claims) => this.#steps(claims, this.#enter);

  readonly #enter = (queue: ClaimQueue, now: number, claim: Claim): ClaimStatus => {
    const { maxWaiters: most } = this.#options;
    return queue.enter(claim, now, { number: this.#last + 1n, maxWaiters: most });
  };

  readonly claimAll: StoreVerbs['claimAll'] = async (claims) => {
    // On copies first, because one that is refused may have changed its queue.
    const statuses = claims.map((claim) =>
      this.#step(claim.resource, (queue, now) =>
        this.#enter(ClaimQueue.from(queue.toJSON()), now, claim),
      ),
    );
    return refusals(statuses) ?? this.claim(claims);
  };

  readonly renew: StoreVerbs['renew'] = (claims) =>
    this.#steps(claims, (queue, now, claim) => queue.beat(claim, now));

  readonly release: StoreVerbs['release'] = (claims, after) =>
    this.#steps(claims, (queue, now, claim) => queue.leave(claim, now, after?.ms));

  readonly inspect: StoreVerbs['inspect'] = async (resource) =>
    this.#step(resource, (queue, now) => queue.describe(resource, now));

  readonly watch: StoreVerbs['watch'] = (claim, wake) => this.#wakes.subscribe(claim, wake);

  readonly downgrade: StoreVerbs['downgrade'] = async (claim) =>
    this.#step(claim.resource, (queue, now) => queue.downgrade(claim, now));

  readonly raise: StoreVerbs['raise'] = async (claims, numbers) =>
    claims.map((claim, i) =>
      this.#step(claim.resource, (queue, now) => queue.raise(claim, now, numbers[i] ?? 0n)),
    );

  readonly evict: StoreVerbs['evict'] = async (resource, number, eviction) =>
    this.#step(resource, (queue, now) => queue.evict(number, now, eviction));

  readonly keep: StoreVerbs['keep'] = async (claim, record) =>
    this.#step(claim.resource, (queue, now) => queue.keep(claim, now, record));

  readonly recall: StoreVerbs['recall'] = async (resource) =>
    this.#step(resource, (queue, now) => queue.recall(now));

  readonly handOver: StoreVerbs['handOver'] = async (claim, ids) =>
    this.#step(claim.resource, (queue, now) => queue.handOver(claim, ids, now));

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    for (const resource of [...this.#queues.keys()]) {
      const size = (queue: ClaimQueue, now: number): number => {
        queue.tidy(now);
        return queue.size;
      };
      if (resource.startsWith(prefix) && this.#step(resource, size) > 0) yield resource;
    }
  }

  forget(): void {
    this.#queues.clear();
    this.#idle.clear();
    this.#blank = undefined;
    this.lineage = newLineage();
    this.#last = 0n;
    this.#closedUntil = this.#options.clock.now() + this.#options.quarantine;
  }

  #steps<T>(
    claims: readonly Claim[],
    step: (queue: ClaimQueue, now: number, claim: Claim) => T,
  ): Answer<T[]> {
    return Answer.of(() =>
      claims.map((claim) => this.#step(claim.resource, (queue, now) => step(queue, now, claim))),
    );
  }

  #step<T>(resource: string, step: (queue: ClaimQueue, now: number) => T): T {
    const now = this.#options.clock.now();
    const known = this.#queues.get(resource);
    const fresh = { last: this.#last, closedUntil: this.#closedUntil };
    const queue = known ?? this.#blank ?? new ClaimQueue(fresh);
    if (!known) this.#blank = undefined;
    const answer = step(queue, now);
    if (queue.last > this.#last) this.#last = queue.last;
    for (const entry of queue.takeTold()) this.#wake(queue, entry);
    if (queue.isBlank) {
      if (known) this.#queues.delete(resource);
      this.#blank = queue;
    } else {
      if (!known) this.#queues.set(resource, queue);
      if (queue.size === 0) this.#idle.add(resource, now);
    }
    return answer;
  }

  #wake(queue: ClaimQueue, entry: Entry): void {
    if (!this.#wakes.has(entry)) return;
    timers.queueMicrotask(() => {
      // It may have left since, and its queue be another resource's by now.
      if (!entry.sealed && queue.find(entry.id) !== entry) return;
      this.#wakes.wake(entry, queue.statusOf(entry, this.#options.clock.now()));
    });
  }
}
