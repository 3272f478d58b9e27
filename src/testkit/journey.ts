/** What may become of a request on its way to a store and back. */
import type { Clock } from '../clock.ts';
import type { StoreError } from '../errors.ts';

export interface Journey {
  /** Whether the request reaches the store: at once, so many ms late, or never. Default at once. */
  readonly arrives?: 'never' | { readonly lateMs: number };
  /** A second copy of the request reaches the store, so many ms after it was sent. */
  readonly copy?: { readonly lateMs: number };
  /**
   * What the caller gets: nothing at all, an error, or the answer so many ms late. An error and an
   * answer wait for the request, and an answer also for the copy: only where nobody was answered
   * do clients send again.
   */
  readonly answer: 'never' | StoreError | { readonly lateMs: number };
}

/**
 * Sends a request on its journey; `pick` chooses the answer when both copies have one.
 * @param next the request itself.
 */
export async function undergo<T>(
  clock: Clock,
  { arrives, copy, answer }: Journey,
  { next, pick }: { next: () => Promise<T>; pick: (first: T, second: T) => T },
): Promise<T> {
  const reach = (lateMs: number): Promise<T> => {
    const reached = sleep(clock, lateMs).then(next);
    // Nobody may be waiting for it any more.
    reached.catch(() => {});
    return reached;
  };
  const reply = arrives === 'never' ? undefined : reach(arrives?.lateMs ?? 0);
  const second = copy && reach(copy.lateMs);
  if (answer === 'never') return new Promise(() => {});
  if (answer instanceof Error || !reply) {
    await reply;
    throw answer;
  }
  const value = second ? pick(await reply, await second) : await reply;
  await sleep(clock, answer.lateMs);
  return value;
}

export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimeout(resolve, ms);
  });
}
