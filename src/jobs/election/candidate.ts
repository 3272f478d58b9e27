/**
 * A candidate stands for an election, leads, and stands again.
 *
 * Invariant: a candidate leads only while it holds a seat. A term ends when its lease is lost or
 * given up; unless it has resigned, the candidate then stands again, at the end of the queue, as
 * soon as the body of the loop is done: a candidate in the queue can lead at once. A lost seat is
 * released when its work is done, or else by its TTL, so that no other term begins beside it. No
 * lease, and so no term, can stop a leader that ignores its signal: it may go on after the next one
 * has begun.
 * What would break it: a state kept beside the lease instead of read from it, or standing while an
 * earlier body runs, because the candidate would hold the seat and not lead.
 */
import { firstOf, onAbort } from '../../base/aborts.ts';
import { sleep } from '../../base/clock.ts';
import { isLockError } from '../../base/errors.ts';
import { ClosedError, type StoreError } from '../../contract/errors.ts';
import type { AcquireOptions } from '../../core/acquire-options.ts';
import type { Lease } from '../../core/lease.ts';
import type { Lock } from '../../primitives/lock.ts';

export type CandidateState = 'standby' | 'leader' | 'resigned';

export type CampaignOptions = Pick<AcquireOptions, 'label' | 'signal'>;

/** Pause after a failure of the store before standing again, in ms. */
const RETRY_MS = 500;

/** One term of leadership. */
export interface Term {
  readonly lease: Lease;
  /** Aborts with a `LeaseLostError` when the term ends before it is given up. */
  readonly signal: AbortSignal;
}

/**
 * Takes part in an election. `for await (const term of candidate) await lead(term.signal)` leads
 * term by term: when the body is done, the seat is given up and the candidate stands again; leaving
 * the loop resigns. A body that does not return keeps the candidate out of the queue.
 */
export class Candidate implements AsyncDisposable, AsyncIterable<Term> {
  readonly #seat: Lock;
  readonly #end = new AbortController();
  readonly #campaign: Promise<void>;
  #lease: Lease | undefined;
  #failure: unknown;
  /** Loop bodies that are running, for a term that may be over. */
  #bodies = 0;
  /** Resolve the waits for a change of the fields above. */
  #waiting: (() => void)[] = [];

  /** @internal Made by `Election.campaign`. */
  constructor(seat: Lock, options: CampaignOptions) {
    this.#seat = seat;
    const { label, signal } = options;
    const forgetSignal = signal && onAbort(signal, () => void this.resign());
    if (signal?.aborted) this.#end.abort(signal.reason);
    const forgetClosing = onAbort(seat.engine.closing.signal, () => this.close());
    this.#campaign = this.#stand({ label })
      .catch((error) => {
        if (!this.#end.signal.aborted) this.#failure ??= error;
      })
      .then(() => {
        forgetSignal?.();
        forgetClosing();
        this.#end.abort(new ClosedError('The candidacy is over'));
        this.#emit();
      });
  }

  /** Reads the clock now. */
  get state(): CandidateState {
    if (this.#lease?.held) return 'leader';
    return this.#end.signal.aborted ? 'resigned' : 'standby';
  }

  /** The seat, while it leads. */
  get lease(): Lease | undefined {
    return this.#lease?.held ? this.#lease : undefined;
  }

  /**
   * Gives up the seat, or the place in the queue, at once and for good; the signal of a running
   * term aborts first. To finish the work first, leave the loop instead. Resolves when the seat was
   * given back, or the wait has ended; a standby's claim is released in the background. Never
   * rejects.
   */
  readonly resign = async (): Promise<void> => {
    this.#end.abort(new ClosedError('The candidate has resigned'));
    const released = this.#lease?.release();
    this.#emit();
    await released;
    await this.#campaign;
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.resign();
  }

  /**
   * Yields term after term, until it resigns.
   * @throws the error that ended the candidacy: MismatchError, QueueFullError, StoreError,
   *   ClosedError, or LeaseLostError if it was evicted while it stood by.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Term, void, void> {
    let released: Promise<void> | undefined;
    try {
      for (;;) {
        const lease = await this.#elected();
        if (!lease) return;
        const { aborter, forget } = firstOf([lease.signal, this.#end.signal]);
        try {
          yield { lease, signal: aborter.signal };
        } finally {
          released = lease.release();
          this.#bodies--;
          this.#emit();
        }
        forget();
        await released;
      }
    } finally {
      // In the same turn as the loop's end, or it would stand again for the seat that it leaves.
      await Promise.all([this.resign(), released]);
    }
  }

  /** For `locks.close()`: no longer stands; a leader may finish its work. */
  close(): void {
    this.#failure ??= new ClosedError();
    if (this.#bodies === 0 || !this.#lease?.held) void this.resign();
  }

  /** Waits for a held lease, and counts the body that begins in that same turn. */
  async #elected(): Promise<Lease | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#lease?.held) {
        this.#bodies++;
        return this.#lease;
      }
      if (this.#end.signal.aborted) return undefined;
      await this.#change();
    }
  }

  async #stand(options: AcquireOptions): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted && this.#failure === undefined) {
      if (this.#bodies > 0) {
        await this.#change();
        continue;
      }
      const lease = await this.#seat.stand({ ...options, signal }).catch(passing);
      if (!lease) {
        await sleep(this.#seat.engine.services.clock, RETRY_MS, signal);
        continue;
      }
      lease.stays = true;
      this.#lease = lease;
      if (signal.aborted) await lease.release();
      this.#emit();
      await lease.ended;
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #emit(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** A failure of the store that may pass is no reason to give up. */
export function passing(error: unknown): undefined {
  if (!isLockError(error, 'STORE') || !(error as StoreError).retryable) throw error;
}
