/** The verbs of the contract as steps of documents; `document.ts` has the protocol. */
import { type Clock, OneTimer } from '../../base/clock.ts';
import { randomId } from '../../base/random-id.ts';
import { ClosedError } from '../../contract/errors.ts';
import { UNKNOWN } from '../../contract/gone.ts';
import type { Kept } from '../../contract/records.ts';
import type { Claim, ClaimStatus, Queue, Store, Traits, Wake } from '../../contract/store.ts';
import type { ClaimQueue } from '../../queue/queue.ts';
import { each } from '../each.ts';
import type { QueueStep } from './asks.ts';
import { Document } from './document.ts';
import type { Documents } from './documents.ts';
import { type DocumentLife, lifeOf } from './life.ts';
import { Service } from './service.ts';
import { traitsOf } from './traits.ts';
import { type QueueStanding, WaitingClaims } from './waiting.ts';

export interface DocumentStoreParts {
  readonly documents: Documents;
  readonly maxWaiters: number;
  readonly clock: Clock;
}

/** How often documents that are not in use are looked for. */
const SWEEP_MS = 60_000;

/** Verbs that name no claim have as long as a claim with this TTL, in ms. */
const PATIENCE_MS = 30_000;

export class DocumentStore implements Store {
  readonly name: string;
  readonly traits: Traits;
  readonly lineage: string;
  readonly list?: (prefix: string) => AsyncIterable<string>;
  readonly #parts: DocumentStoreParts;
  readonly #life: DocumentLife;
  readonly #service: Service;
  readonly #waiting: WaitingClaims;
  readonly #documents = new Map<string, Document>();
  readonly #timer: OneTimer;
  /** Begins the names of all writes of this store. */
  readonly #address = randomId();
  #writes = 0;
  #sweeping = false;
  #closed = false;

  constructor(parts: DocumentStoreParts) {
    const { documents, clock } = parts;
    this.#parts = parts;
    this.#life = lifeOf(clock, documents.slackMs);
    this.#service = new Service(documents, clock, this.#life);
    this.#timer = new OneTimer(clock);
    this.name = documents.name;
    this.lineage = documents.name;
    this.traits = traitsOf(this.#life.clock);
    if (documents.list) this.list = (prefix) => this.#list(prefix);
    this.#waiting = new WaitingClaims({
      documents,
      clock,
      look: (resource, ids) =>
        this.#of(resource).look((queue, { now }) => {
          queue.tidy(now);
          const standings = [...ids].map((id) => [id, standingOf(queue, id, now)] as const);
          return new Map(standings);
        }),
    });
  }

  claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    const { maxWaiters } = this.#parts;
    return this.#statuses(claims, (claim) => (queue, { now, number }) => {
      return queue.enter(claim, now, { number, maxWaiters });
    });
  }

  renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#statuses(
      claims,
      (claim) =>
        (queue, { now }) =>
          queue.beat(claim, now),
    );
  }

  release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<readonly boolean[]> {
    return Promise.all(
      claims.map(async (claim) => {
        const { ttlMs, resource, id } = claim;
        const document = this.#of(resource);
        // It needs no wake for its own end.
        this.#waiting.saw(claim, { status: UNKNOWN, first: false, ending: 0 });
        const left = await document.change((queue, { now }) => queue.leave(claim, now, after?.ms), {
          ttlMs,
          lasts: true,
        });
        document.hasLost(id);
        return left;
      }),
    );
  }

  /** Writes if it finds that claims have ended, as every store settles a queue that it looks at. */
  async inspect(resource: string): Promise<Queue> {
    return this.#of(resource).change((queue, { now }) => queue.describe(resource, now), {
      ttlMs: PATIENCE_MS,
    });
  }

  watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    return this.#waiting.watch(claim, wake);
  }

  downgrade(claim: Claim): Promise<ClaimStatus> {
    return this.#status(claim, (queue, { now }) => queue.downgrade(claim, now));
  }

  raise(claims: readonly Claim[], numbers: readonly bigint[]): Promise<readonly ClaimStatus[]> {
    return this.#statuses(claims, (claim, i) => (queue, { now }) => {
      return queue.raise(claim, now, numbers[i] ?? 0n);
    });
  }

  async evict(
    resource: string,
    number: bigint,
    { reason, now: atOnce }: { readonly reason: string; readonly now: boolean },
  ): Promise<boolean> {
    return this.#of(resource).change(
      (queue, { now }) => queue.evict(number, now, { reason, atOnce }),
      { ttlMs: PATIENCE_MS, lasts: true },
    );
  }

  async keep(
    claim: Claim,
    record: { readonly text: string; readonly ms: number },
  ): Promise<boolean> {
    const { resource, ttlMs } = claim;
    return this.#of(resource).change((queue, { now }) => queue.keep(claim, now, record), {
      ttlMs,
    });
  }

  async recall(resource: string): Promise<Kept | undefined> {
    return this.#of(resource).look((queue, { now }) => queue.recall(now));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer.clear();
    await this.#waiting.close();
    await this.#parts.documents.close?.();
  }

  async *#list(prefix: string): AsyncGenerator<string, void, void> {
    for await (const resource of this.#parts.documents.list?.(prefix) ?? []) {
      if (!resource.startsWith(prefix)) continue;
      const { holders, waiters } = await this.inspect(resource);
      if (holders.length + waiters.length > 0) yield resource;
    }
  }

  async #statuses(
    claims: readonly Claim[],
    stepOf: (claim: Claim, i: number) => QueueStep<ClaimStatus>,
  ): Promise<readonly ClaimStatus[]> {
    if (this.#closed) throw closed();
    return each(claims, (claim, i) => this.#status(claim, stepOf(claim, i)));
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
    if (this.#closed) throw closed();
    this.#sweepLater();
    let document = this.#documents.get(resource);
    if (!document) {
      const { clock, documents } = this.#parts;
      document = new Document({
        service: this.#service,
        life: this.#life,
        clock,
        heading: { service: documents.name, resource, clock: this.#life.clock },
        nextWrite: () => `${this.#address}.${++this.#writes}`,
        wake: ({ id }, status, queue) => {
          this.#waiting.wake(resource, id, standingWith(queue, id, status));
        },
      });
      this.#documents.set(resource, document);
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
    for (const [resource, document] of this.#documents) {
      if (!document.isResting) continue;
      this.#documents.delete(resource);
      await document.remove();
    }
    this.#sweeping = false;
    if (this.#documents.size > 0 && !this.#closed) this.#sweepLater();
  }
}

function standingOf(queue: ClaimQueue, id: string, now: number): QueueStanding | undefined {
  const entry = queue.find(id);
  const status = entry ? queue.statusOf(entry, now) : queue.farewell(id, now);
  return status && standingWith(queue, id, status);
}

function standingWith(queue: ClaimQueue, id: string, status: ClaimStatus): QueueStanding {
  const first = queue.find(id)?.first === true;
  return { status, first, ending: first ? queue.ending : 0 };
}

function closed(): ClosedError {
  return new ClosedError('This store is closed');
}
