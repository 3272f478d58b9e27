/**
 * Warns the process of waits that may never end, as those of a task for a lock that it holds itself.
 *
 * A timer for each wait would cost all that wait briefly, so one timer for all locks looks at the
 * end of each line, and warns when the waiter that it found there is still in the line three looks
 * later: after 30 to 40 s. Every line has such a waiter, and all before it have waited for longer.
 * It warns once per resource and process, and not where a listener of `slow` knows what to do.
 */
import type { Clock, Timer } from '../base/clock.ts';
import { quote } from '../base/errors.ts';
import { detached } from '../base/event-loop.ts';
import { perProcess } from '../base/per-process.ts';
import { reasonText } from '../store-calls/waiting.ts';
import type { LocalQueue } from './local-queue.ts';
import { framesOf, type Waiter } from './waiter.ts';

const LOOK_MS = 10_000;
const LOOKS = 3;

/** Names may be without number; a program that has been warned so often knows. */
const MOST_WARNINGS = 100;

export class SlowWaits {
  readonly #clock: Clock;
  readonly #queues: ReadonlySet<LocalQueue>;
  #timer: Timer | undefined;
  /** How often each was seen. */
  #seen = new Map<Waiter<never>, number>();

  constructor(clock: Clock, queues: ReadonlySet<LocalQueue>) {
    this.#clock = clock;
    this.#queues = queues;
  }

  /** Looks from now on, while there are queues. */
  start(): void {
    if (this.#timer) return;
    this.#timer = detached(() => this.#clock.setTimeout(() => this.#look(), LOOK_MS));
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer) this.#clock.clearTimeout(this.#timer);
  }

  #look(): void {
    this.#timer = undefined;
    if (this.#queues.size > 0) this.start();
    const seen = new Map<Waiter<never>, number>();
    for (const { last } of this.#queues) {
      if (last && !last.options.standby) seen.set(last as Waiter<never>, 0);
    }
    for (const [waiter, looks] of this.#seen) {
      if (waiter.settled) continue;
      if (looks + 1 < LOOKS) seen.set(waiter, looks + 1);
      else void warn(waiter);
    }
    this.#seen = seen;
  }
}

/** Never rejects. */
async function warn(waiter: Waiter<never>): Promise<void> {
  if (!waiter.unheard) return;
  const warned = perProcess('slow-waits', () => new Set<string>());
  if (warned.has(waiter.resource) || warned.size >= MOST_WARNINGS) return;
  warned.add(waiter.resource);
  const why = reasonText(await waiter.waiting(LOOKS * LOOK_MS));
  const { site } = waiter.options;
  const message = `A wait for ${quote(waiter.resource)} takes longer than 30 s${why && `; ${why}`}.`;
  process.emitWarning(message, {
    type: 'HoldfastWarning',
    code: 'HOLDFAST_SLOW_WAIT',
    ...(site && { detail: `It was asked for here:${framesOf(site)}` }),
  });
}
