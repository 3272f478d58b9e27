/**
 * Elections as others see them, told as they change.
 *
 * Invariant: what is told differs from what was told before it, comes in order, and is marked
 * `missed` where others may have led in between. It holds because a store that can be followed
 * tells every change, and where it cannot know, says so; a mark stays until the next change is
 * told. Whoever is slow is not waited for: up to `MOST_UNTOLD` changes are kept, then the oldest
 * goes, and the one behind it is marked. A store that cannot be followed is looked at, and between
 * two looks anybody may have led, so every change is marked.
 * What would break it: to compare with what was heard last instead of what was kept last.
 */

import { onAbort } from '../../base/aborts.ts';
import { sleep } from '../../base/clock.ts';
import { type Duration, positive } from '../../base/duration.ts';
import { isLockError } from '../../base/errors.ts';
import { checkOptions } from '../../base/options.ts';
import type { StoreError } from '../../contract/errors.ts';
import type { Follower, Member, Queue } from '../../contract/store.ts';
import type { Engine } from '../../core/engine.ts';
import { checkSignal } from '../../core/waiter.ts';

/** Who leads and who stands by, each in order. */
export interface Standings {
  readonly leaders: readonly Member[];
  readonly standbys: readonly Member[];
}

export interface ObservedStandings extends Standings {
  /**
   * Since the standings before, others may have led and gone. Never, if false. It is true after
   * every look of a store that does not tell changes, and after the first one false.
   */
  readonly missed: boolean;
}

export interface ObserveOptions {
  /** How often to look where the store does not tell changes; default 500 ms. */
  readonly every?: Duration;
  /** Ends the observation; the loop then just ends. */
  readonly signal?: AbortSignal;
}

const OBSERVE = { every: positive(500), signal: checkSignal };

/** So many changes are kept for whoever is slow. */
const MOST_UNTOLD = 1000;

/** @throws UsageError */
export function observe(
  engine: Engine,
  resource: string,
  options: ObserveOptions,
): AsyncGenerator<ObservedStandings, void, void> {
  const { every: everyMs, signal } = checkOptions(options, OBSERVE, 'observe');
  return observing(engine, resource, { everyMs, signal });
}

async function* observing(
  engine: Engine,
  resource: string,
  { everyMs, signal }: { readonly everyMs: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<ObservedStandings, void, void> {
  if (signal?.aborted) return;
  const news = new News();
  const over = new AbortController();
  const closing = {
    close(): void {
      forgetSignal?.();
      engine.closables.delete(closing);
      over.abort();
      news.end();
    },
  };
  const forgetSignal = signal && onAbort(signal, () => closing.close());
  engine.closables.add(closing);
  let following: AsyncDisposable | undefined;
  try {
    engine.checkOpen();
    following = await engine.services.looks.follow(resource, news);
    const terms = { news, everyMs, signal: over.signal };
    for (;;) {
      const standings = following ? await hear(engine, news) : await look(engine, resource, terms);
      if (!standings) return;
      yield standings;
    }
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    closing.close();
    await following?.[Symbol.asyncDispose]();
  }
}

/** A process that listens must not end for lack of other work. */
async function hear(engine: Engine, news: News): Promise<ObservedStandings | undefined> {
  engine.services.keepAlive.add();
  try {
    return await news.next();
  } finally {
    engine.services.keepAlive.remove();
  }
}

/** Looks until something has changed; undefined when it is over. */
async function look(
  engine: Engine,
  resource: string,
  parts: { readonly news: News; readonly everyMs: number; readonly signal: AbortSignal },
): Promise<ObservedStandings | undefined> {
  const { news, everyMs, signal } = parts;
  for (;;) {
    if (news.begun) await sleep(engine.services.clock, everyMs, signal);
    if (signal.aborted) return undefined;
    // Whoever has never seen anything is told why.
    const queue = await engine.services.looks
      .inspect(resource)
      .catch(news.begun ? passing : undefined);
    if (queue) news.told(queue, true);
    const standings = news.take();
    if (standings) return standings;
  }
}

/** What was heard, until it is told. */
class News implements Follower {
  #untold: ObservedStandings[] = [];
  #last: string | undefined;
  /** Something was since the last. */
  #missed = false;
  #failure: StoreError | undefined;
  #over = false;
  #wake: () => void = () => {};

  get begun(): boolean {
    return this.#last !== undefined;
  }

  told({ holders, waiters }: Queue, missed: boolean): void {
    const now = [holders, waiters].map((all) => all.map(({ number }) => number).join()).join('|');
    this.#missed ||= missed && this.begun;
    if (now === this.#last) return;
    this.#last = now;
    this.#untold.push({ leaders: holders, standbys: waiters, missed: this.#missed });
    this.#missed = false;
    if (this.#untold.length > MOST_UNTOLD) {
      const [, next, ...others] = this.#untold as [ObservedStandings, ObservedStandings];
      this.#untold = [{ ...next, missed: true }, ...others];
    }
    this.#wake();
  }

  failed(error: StoreError): void {
    this.#failure = error;
    this.#wake();
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  take(): ObservedStandings | undefined {
    return this.#untold.shift();
  }

  /**
   * Undefined when it is over.
   * @throws StoreError if no more can come
   */
  async next(): Promise<ObservedStandings | undefined> {
    for (;;) {
      if (this.#over) return undefined;
      const standings = this.take();
      if (standings) return standings;
      if (this.#failure) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** A failure of the store that may pass is no reason to give up. */
export function passing(error: unknown): undefined {
  if (!isLockError(error, 'STORE') || !(error as StoreError).retryable) throw error;
}
