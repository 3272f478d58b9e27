import { CANDIDATE, type Member, type Queue } from '../contract/store.ts';
import type { Inspection } from '../core/engine.ts';
import type { Locks } from '../locks.ts';

/** How many queues are read at a time: stores read them one by one. */
const AT_ONCE = 32;

/** A candidate in an election leads or stands by; a standby waits for nothing. */
export function isCandidate({ holder }: Pick<Member, 'holder'>): boolean {
  return holder.mark === CANDIDATE;
}

export function isElection({ holders, waiters }: Pick<Queue, 'holders' | 'waiters'>): boolean {
  return holders.some(isCandidate) || waiters.some(isCandidate);
}

/**
 * The queues of those names that are still in use, in their order.
 * @throws ClosedError, StoreError
 */
export async function queuesOf(
  locks: Locks,
  names: readonly string[],
): Promise<ReadonlyMap<string, Inspection>> {
  const read = async (name: string) => [name, await locks.inspect(name)] as const;
  const found = await inTurns(names, read);
  return new Map(found.filter(([, { holders, waiters }]) => holders.length + waiters.length > 0));
}

/** What is read by each of these names, in their order. Rejects as a read does. */
export async function inTurns<T>(
  names: readonly string[],
  read: (name: string) => Promise<T>,
): Promise<readonly T[]> {
  const found: T[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    found.push(...(await Promise.all(names.slice(at, at + AT_ONCE).map(read))));
  }
  return found;
}
