import type { Inspection } from '../core/engine.ts';
import type { Locks } from '../locks.ts';

/** How many queues are read at a time: stores read them one by one. */
const AT_ONCE = 32;

/**
 * The queues of those names that are still in use, in their order.
 * @throws ClosedError, StoreError
 */
export async function queuesOf(
  locks: Locks,
  names: readonly string[],
): Promise<ReadonlyMap<string, Inspection>> {
  const queues = new Map<string, Inspection>();
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE);
    const read = async (name: string) => [name, await locks.inspect(name)] as const;
    for (const [name, queue] of await Promise.all(some.map(read))) {
      if (queue.holders.length + queue.waiters.length > 0) queues.set(name, queue);
    }
  }
  return queues;
}
