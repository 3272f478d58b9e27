/** The fate of a request on its way to a store and back. */
import { type Clock, sleep } from '../base/clock.ts';
import { isError } from '../base/errors.ts';
import type { StoreError } from '../contract/errors.ts';

export interface Journey {
  /** Whether the request reaches the store: at once, the default; this many ms late; or never. */
  readonly arrives?: 'never' | { readonly lateMs: number };
  /** A second copy of the request reaches the store, this many ms after it was sent. */
  readonly copy?: { readonly lateMs: number };
  /**
   * What the caller gets: nothing at all, an error, or the reply this many ms late. An error and a
   * reply wait for the request, and a reply also for the copy: clients send again only if they got
   * no reply.
   */
  readonly answer: 'never' | StoreError | { readonly lateMs: number };
}

/**
 * Sends a request on its journey; `pick` chooses the reply when both copies have one.
 * @param next the request itself.
 */
export async function undergo<T>(
  clock: Clock,
  { arrives, copy, answer }: Journey,
  { next, pick }: { next: () => Promise<T>; pick: (first: T, second: T) => T },
): Promise<T> {
  const reach = (lateMs: number): Promise<T> => {
    const reached = sleep(clock, lateMs).then(next);
    // The caller may not be waiting any more.
    reached.catch(() => {});
    return reached;
  };
  const reply = arrives === 'never' ? undefined : reach(arrives?.lateMs ?? 0);
  const second = copy && reach(copy.lateMs);
  if (answer === 'never') return new Promise(() => {});
  if (isError(answer) || !reply) {
    // Whatever became of the request, the caller gets this error.
    await reply?.catch(() => {});
    throw answer;
  }
  const value = await (second ? together(reply, second, pick) : reply);
  await sleep(clock, answer.lateMs);
  return value;
}

/** The result of two copies: it fulfills if one of them does, and settles with the last. */
async function together<T>(
  first: Promise<T>,
  second: Promise<T>,
  pick: (first: T, second: T) => T,
): Promise<T> {
  const [one, other] = await Promise.allSettled([first, second]);
  if (one.status === 'rejected') return other.status === 'rejected' ? first : second;
  return other.status === 'rejected' ? first : pick(one.value, other.value);
}
