/**
 * A try that was refused, once more.
 *
 * Invariant: a try is refused for good only by a holder that lives. Most stores say how much life a
 * holder has left, so a short wait is enough for one that has just gone. Where a store has no clock
 * that its processes share, a process that has just come sees a sign of life and not its age: the
 * holder may have died last year. So it looks until the holder has shown that it lives, as it does
 * within a third of a TTL, or must be dead, after one TTL. A new process each night that looks only
 * once would be refused for ever.
 * What would break it: an age that is reckoned from the clock of another machine.
 */
import { sleep } from '../../base/clock.ts';
import { AcquireTimeoutError } from '../../core/errors.ts';
import type { Locks } from '../../locks.ts';

/** How long it waits where no holder is seen, in ms. */
const SHORT_MS = 250;

/** How often it looks for signs of life. */
const LOOKS_PER_TTL = 10;

export interface SecondTry {
  readonly wait: number;
  /** Also aborts, with an `AcquireTimeoutError`, once all holders have shown that they live. */
  readonly signal: AbortSignal;
}

/** @throws AcquireTimeoutError if the lock is held, and what `attempt` rejects with. */
export async function secondTry<T>(
  locks: Locks,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
  attempt: (terms: SecondTry) => Promise<T>,
): Promise<T> {
  const { clock, calls } = locks.engine.services;
  const since = clock.now();
  const { holders, waiting } = await locks.inspect(name);
  if (waiting?.why === 'data-loss') throw new AcquireTimeoutError(name, 0, waiting);
  if (calls.store.traits.clock !== 'process' || holders.length === 0) {
    if (waiting && waiting.why !== 'queue') throw new AcquireTimeoutError(name, 0, waiting);
    return attempt({ wait: SHORT_MS, signal });
  }
  const left = new Map(holders.map(({ number, leftMs }) => [number, leftMs]));
  const living = new Set<bigint>();
  const [alive, over] = [new AbortController(), new AbortController()];
  const look = async (): Promise<void> => {
    const now = await locks.inspect(name);
    const known = now.holders.filter(({ number }) => left.has(number));
    for (const { number, leftMs } of known) {
      // A sign of life is the only thing by which it has more left than before.
      if (leftMs > (left.get(number) ?? leftMs)) living.add(number);
      left.set(number, leftMs);
    }
    // One that has come since may be the claim of this attempt, which is then under way, or done.
    if (known.length === 0) return over.abort();
    if (!now.waiting || !now.holders.every(({ number }) => living.has(number))) return;
    const waitedMs = Math.round(clock.now() - since);
    alive.abort(new AcquireTimeoutError(name, waitedMs, now.waiting));
  };
  const looks = async (): Promise<void> => {
    const everyMs = Math.min(...holders.map(({ ttlMs }) => ttlMs)) / LOOKS_PER_TTL;
    while (!over.signal.aborted) {
      await sleep(clock, everyMs, over.signal);
      // The attempt reports a store that fails.
      if (!over.signal.aborted) await look().catch(() => {});
    }
  };
  void looks();
  try {
    const wait = Math.max(...holders.map(({ leftMs }) => Math.ceil(leftMs))) + SHORT_MS;
    return await attempt({ wait, signal: AbortSignal.any([signal, alive.signal]) });
  } finally {
    over.abort();
  }
}
