/** The verbs of the contract as steps of documents; `document.ts` has the protocol. */
import { type Clock, checkClock, OneTimer } from '../../base/clock.ts';
import { UsageError } from '../../base/errors.ts';
import { type Checked, checkOptions, wholeNumber } from '../../base/options.ts';
import { randomId } from '../../base/random-id.ts';
import { ClosedError } from '../../contract/errors.ts';
import { UNKNOWN } from '../../contract/gone.ts';
import type { Claim, ClaimStatus, Store, Traits } from '../../contract/store.ts';
import type { ClaimQueue } from '../../queue/queue.ts';
import { each, type StoreVerbs } from '../batch.ts';
import type { QueueMoment, QueueStep } from './asks.ts';
import { Document } from './document.ts';
import type { Documents } from './documents.ts';
import { type DocumentLife, lifeOf } from './life.ts';
import { Service } from './service.ts';
import { type QueueStanding, WaitingClaims } from './waiting.ts';

export interface DocumentStoreOptions {
  /** Longest queue of waiting claims of one resource; default 100. */
  readonly maxWaiters?: number;
  readonly clock?: Clock;
}

/**
 * Locks in any service that writes a text on the condition that it has not changed.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { documentStore } from 'holdfast/document';
 *
 * const locks = createLocks(documentStore(documents));
 *
 * @throws UsageError
 */
export function documentStore(documents: Documents, options: DocumentStoreOptions = {}): Store {
  const { get, put, slackMs = 0 } = documents ?? {};
  if (typeof get !== 'function' || typeof put !== 'function') {
    throw new UsageError('documentStore takes documents with get() and put().');
  }
  if (!(slackMs >= 0)) throw new UsageError('slackMs of documents must be 0 or more, in ms.');
  return new DocumentStore(documents, checkOptions(options, CHECKS, 'documentStore'));
}

const CHECKS = { maxWaiters: wholeNumber(0, Number.POSITIVE_INFINITY, 100), clock: checkClock };

/** The options of `documentStore`, and those of its documents, which refuse unknown ones. */
export function apart<T extends DocumentStoreOptions>(
  options: T,
): readonly [DocumentStoreOptions, Omit<T, keyof DocumentStoreOptions>] {
  const { maxWaiters, clock, ...own } = Object(options) as T;
  return [{ maxWaiters, clock } as DocumentStoreOptions, own];
}

/** How often documents that are not in use are looked for. */
const SWEEP_MS = 60_000;

class DocumentStore implements Store {
  readonly name: string;
  readonly traits: Traits;
  readonly lineage: string;
  readonly list?: (prefix: string) => AsyncIterable<string>;
  readonly #documents: Documents;
  readonly #options: Checked<typeof CHECKS>;
  readonly #life: DocumentLife;
  readonly #service: Service;
  readonly #waiting: WaitingClaims;
  readonly #open = new Map<string, Document>();
  readonly #timer: OneTimer;
  /** Begins the names of all writes of this store. */
  readonly #address = randomId();
  #writes = 0;
  #sweeping = false;
  #closed = false;

  constructor(documents: Documents, options: Checked<typeof CHECKS>) {
    const { clock } = options;
    this.#documents = documents;
    this.#options = options;
    this.#life = lifeOf(clock, documents.slackMs);
    this.#service = new Service(documents, clock, this.#life);
    this.#timer = new OneTimer(clock);
    this.name = documents.name;
    this.lineage = documents.name;
    const common = this.#life.clock === 'service';
    this.traits = {
      queue: true,
      permits: true,
      tokens: 'document',
      // Without a common clock, a process that has just come takes a dead holder for a live one.
      atomicTry: common,
      clock: common ? 'server' : 'process',
      failover: 'linearizable',
      reach: 'network',
      records: true,
      replaces: true,
      sequential: true,
    };
    if (documents.list) this.list = (prefix) => this.#list(prefix);
    this.#waiting = new WaitingClaims({
      documents,
      clock,
      look: (resource, ids) =>
        this.#of(resource).look((queue, { now }) => {
          queue.tidy(now);
          return new Map([...ids].map((id) => [id, standingOf(queue, id, now)] as const));
        }),
    });
  }

  readonly claim: StoreVerbs['claim'] = (claims) =>
    this.#statuses(claims, (queue, { now, number }, claim) =>
      queue.enter(claim, now, { number, maxWaiters: this.#options.maxWaiters }),
    );

  readonly renew: StoreVerbs['renew'] = (claims) =>
    this.#statuses(claims, (queue, { now }, claim) => queue.beat(claim, now));

  readonly release: StoreVerbs['release'] = (claims, after) =>
    Promise.all(
      claims.map(async (claim) => {
        const { ttlMs, resource, id } = claim;
        const document = this.#of(resource);
        // It needs no wake for its own end.
        this.#waiting.saw(claim, { status: UNKNOWN, first: false, ending: 0 });
        const leave: QueueStep<boolean> = (queue, { now }) => queue.leave(claim, now, after?.ms);
        const left = await document.change(leave, { ttlMs, lasts: true });
        document.hasLost(id);
        return left;
      }),
    );

  /** Writes if it finds that claims have ended, as every store settles a queue that it looks at. */
  readonly inspect: StoreVerbs['inspect'] = async (resource) =>
    this.#of(resource).change((queue, { now }) => queue.describe(resource, now));

  readonly watch: StoreVerbs['watch'] = (claim, wake) => this.#waiting.watch(claim, wake);

  readonly downgrade: StoreVerbs['downgrade'] = (claim) =>
    this.#status(claim, (queue, { now }) => queue.downgrade(claim, now));

  readonly raise: StoreVerbs['raise'] = (claims, numbers) =>
    this.#statuses(claims, (queue, { now }, claim, nth) =>
      queue.raise(claim, now, numbers[nth] ?? 0n),
    );

  readonly evict: StoreVerbs['evict'] = async (resource, number, eviction) => {
    const step: QueueStep<boolean> = (queue, { now }) => queue.evict(number, now, eviction);
    return this.#of(resource).change(step, { lasts: true });
  };

  readonly keep: StoreVerbs['keep'] = async (claim, record) => {
    const step: QueueStep<boolean> = (queue, { now }) => queue.keep(claim, now, record);
    return this.#of(claim.resource).change(step, { ttlMs: claim.ttlMs });
  };

  readonly recall: StoreVerbs['recall'] = async (resource) =>
    this.#of(resource).look((queue, { now }) => queue.recall(now));

  readonly handOver: StoreVerbs['handOver'] = (claim, ids) =>
    this.#status(claim, (queue, { now }) => queue.handOver(claim, ids, now));

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer.clear();
    await this.#waiting.close();
    await this.#documents.close?.();
  }

  async *#list(prefix: string): AsyncGenerator<string, void, void> {
    for await (const resource of this.#documents.list?.(prefix) ?? []) {
      if (!resource.startsWith(prefix)) continue;
      const { holders, waiters } = await this.inspect(resource);
      if (holders.length + waiters.length > 0) yield resource;
    }
  }

  async #statuses(
    claims: readonly Claim[],
    step: (queue: ClaimQueue, moment: QueueMoment, claim: Claim, nth: number) => ClaimStatus,
  ): Promise<readonly ClaimStatus[]> {
    if (this.#closed) throw new ClosedError('This store is closed');
    return each(claims, (claim, nth) =>
      this.#status(claim, (queue, moment) => step(queue, moment, claim, nth)),
    );
  }

  async #status(claim: Claim, step: QueueStep<ClaimStatus>): Promise<ClaimStatus> {
    const { resource, id, ttlMs } = claim;
    const document = this.#of(resource);
    const standing = await document.change(
      (queue, moment) => standingWith(queue, id, step(queue, moment)),
      { ttlMs },
    );
    const { status } = standing;
    this.#waiting.saw(claim, standing);
    const expired = status.state === 'gone' && status.why === 'expired';
    return expired && document.hasLost(id) ? { state: 'gone', why: 'store-reset' } : status;
  }

  #of(resource: string): Document {
    if (this.#closed) throw new ClosedError('This store is closed');
    this.#sweepLater();
    let document = this.#open.get(resource);
    if (!document) {
      document = new Document({
        service: this.#service,
        life: this.#life,
        clock: this.#options.clock,
        heading: { service: this.name, resource, clock: this.#life.clock },
        nextWrite: () => `${this.#address}.${++this.#writes}`,
        wake: ({ id }, status, queue) => {
          this.#waiting.wake(resource, id, standingWith(queue, id, status));
        },
      });
      this.#open.set(resource, document);
    }
    return document;
  }

  #sweepLater(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    this.#timer.set(() => void this.#sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  /** Forgets what is not in use, and removes documents that say nothing. Never rejects. */
  async #sweep(): Promise<void> {
    for (const [resource, document] of this.#open) {
      if (!document.isResting) continue;
      this.#open.delete(resource);
      await document.remove();
    }
    this.#sweeping = false;
    if (this.#open.size > 0 && !this.#closed) this.#sweepLater();
  }
}

function standingOf(queue: ClaimQueue, id: string, now: number): QueueStanding | undefined {
  const entry = queue.find(id);
  const status = entry ? queue.statusOf(entry, now) : queue.farewell(id, now);
  return status && standingWith(queue, id, status);
}

function standingWith(queue: ClaimQueue, id: string, status: ClaimStatus): QueueStanding {
  const first = queue.find(id)?.first === true;
  const all = first ? [...queue.claims] : [];
  return { status, first, ending: all.filter((each) => each.admitted && each.sealed).length };
}
