/**
 * One verb's way to the store: requests are sent in batches, one batch at a time.
 *
 * The first request leaves with the next microtask, and with whatever was sent in the same breath;
 * what arrives while it is under way is collected into the next batch, so that a lone caller waits
 * for nobody and a crowd shares round trips. Claims do not share a fate: an answer is given to
 * each, and when a batch as a whole is refused for what is in it, it is halved until the culprit
 * stands alone. An answer that takes longer than a third of the shortest TTL in the batch is no
 * longer waited for: its outcome is unknown, which is no harm because verbs are idempotent.
 * `sentAt` is read before the store is called; deadlines count from it.
 * The first batch leaves in the context of who asked first; those behind it, in no caller's.
 * What would break it: to read `sentAt` after the call, or to take a time-out for a failure.
 */
import { checkAnswers } from './answers.ts';
import { inBackground } from './background.ts';
import type { Clock } from './clock.ts';
import { type StoreError, toStoreError } from './errors.ts';
import { answerWithin, TRIES_PER_TTL } from './patience.ts';
import { type Claim, MAX_BATCH, type Traits } from './store.ts';
import type { Turn } from './turn.ts';

/** Who asked; told once, with a result or an error. An object, so that asking makes no closure. */
export interface Asker<R> {
  /** False: the request need not be sent any more, and nothing is told. Default true. */
  readonly wanted?: boolean;
  settle(result: R | undefined, error: StoreError | undefined, sentAt: number): void;
}

interface Request<R> {
  readonly claim: Claim;
  readonly asker: Asker<R>;
}

/** What became of a request. */
export interface Answered<R> {
  readonly claims: number;
  /** None if the request as a whole failed. */
  readonly results: readonly R[];
  readonly error: StoreError | undefined;
}

export interface LaneParts<R> {
  readonly verb: (claims: readonly Claim[]) => Promise<readonly R[]>;
  /** Makes of each answer what can be relied upon. */
  readonly check: (answer: R) => R;
  /** Told of each request, when it was answered or failed. */
  readonly answered: ((request: Answered<R>) => void) | undefined;
  readonly traits: Traits;
  readonly clock: Clock;
  readonly turn: Turn;
}

export class Lane<R> {
  readonly #parts: LaneParts<R>;
  #pending: Request<R>[] = [];
  #busy = false;

  constructor(parts: LaneParts<R>) {
    this.#parts = parts;
  }

  send(claim: Claim, asker: Asker<R>): void {
    this.#pending.push({ claim, asker });
    if (this.#busy) return;
    this.#busy = true;
    queueMicrotask(this.#go);
  }

  readonly #go = (): void => this.#parts.turn.run(this.#flush);

  readonly #flush = (now: number): void => {
    const batch = this.#take();
    void this.#deliver(batch, now).then(() => {
      if (this.#pending.length > 0) inBackground(this.#go);
      else this.#busy = false;
    });
  };

  #take(): Request<R>[] {
    const { sequential } = this.#parts.traits;
    let batch = this.#pending.filter(({ asker }) => asker.wanted !== false);
    this.#pending = batch;
    if (sequential && batch.length <= MAX_BATCH) this.#pending = [];
    else if (sequential) batch = this.#pending.splice(0, MAX_BATCH);
    else {
      const chosen = new Map<string, Request<R>>();
      this.#pending = batch.filter((request) => {
        if (chosen.size === MAX_BATCH || chosen.has(request.claim.resource)) return true;
        chosen.set(request.claim.resource, request);
        return false;
      });
      batch = [...chosen.values()];
    }
    if (batch.length > 1) batch.sort(byResource);
    return batch;
  }

  /** Never rejects. */
  async #deliver(batch: readonly Request<R>[], sentAt: number): Promise<void> {
    if (batch.length === 0) return;
    const claims = batch.length;
    let results: readonly R[];
    try {
      const answers = await this.#call(batch.map((request) => request.claim));
      results = checkAnswers(answers, claims, this.#parts.check);
    } catch (cause) {
      const error = toStoreError(cause);
      await this.#failed(batch, error, sentAt);
      this.#parts.answered?.({ claims, results: [], error });
      return;
    }
    batch.forEach((request, i) => request.asker.settle(results[i], undefined, sentAt));
    this.#parts.answered?.({ claims, results, error: undefined });
  }

  async #failed(batch: readonly Request<R>[], error: StoreError, sentAt: number): Promise<void> {
    if (batch.length === 1 || error.retryable || error.outcome === 'unknown') {
      for (const request of batch) request.asker.settle(undefined, error, sentAt);
      return;
    }
    const middle = batch.length >> 1;
    await this.#deliver(batch.slice(0, middle), this.#parts.clock.now());
    await this.#deliver(batch.slice(middle), this.#parts.clock.now());
  }

  #call(claims: Claim[]): Promise<readonly R[]> {
    const patience = Math.min(...claims.map((claim) => claim.ttlMs)) / TRIES_PER_TTL;
    return answerWithin(patience, this.#parts, this.#parts.verb(claims));
  }
}

function byResource<R>(a: Request<R>, b: Request<R>): number {
  return a.claim.resource < b.claim.resource ? -1 : a.claim.resource > b.claim.resource ? 1 : 0;
}
