import { UsageError } from '../base/errors.ts';
import { CANDIDATE, type Member, type Queue } from '../contract/store.ts';
import type { Engine, Inspection } from '../core/engine.ts';
import { engineOf, type Locks } from '../locks.ts';
import { checkNext } from '../store-calls/replies.ts';

/** Names that begin with this are not locks of a program: `list` leaves them out. */
export const RESERVED = 'holdfast waits ';

/**
 * Names of resources in use, without the prefix of these locks.
 *
 * @example
 * import { list } from 'holdfast';
 *
 * for await (const name of list(locks, 'account:')) console.log(name);
 *
 * @throws UsageError synchronously; as rejections ClosedError, StoreError, and UnsupportedError if
 *   the store cannot list names.
 */
export function list(locks: Locks, prefix = ''): AsyncGenerator<string, void, void> {
  const engine = engineOf(locks);
  if (typeof prefix !== 'string' || !prefix.isWellFormed()) {
    throw new UsageError('The prefix must be Unicode text.');
  }
  const own = engine.services.settings.prefix;
  async function* names(): AsyncGenerator<string, void, void> {
    for await (const name of namesFrom(engine, own + prefix)) {
      // Another program's resource whose full name is this prefix has no name here.
      if (name !== own && !name.startsWith(RESERVED)) yield name.slice(own.length);
    }
  }
  return names();
}

/** Full names that begin with it, reserved ones included. */
export async function* namesFrom(engine: Engine, prefix: string): AsyncIterable<string> {
  engine.checkOpen();
  const { calls } = engine.services;
  const all = calls.verb('list');
  const open = async () => all(prefix)[Symbol.asyncIterator]();
  const found = await calls.ask(open, same);
  for (;;) {
    const { done, value } = await calls.ask(() => found.next(), checkNext);
    if (done) return;
    let wanted = false;
    try {
      yield value;
      wanted = true;
    } finally {
      if (!wanted) await calls.ask(async () => found.return?.(), same);
    }
  }
}

const same = <T>(reply: T): T => reply;

/** How many queues are asked for at a time. Redis and the SQL stores read them in one request. */
const AT_ONCE = 32;

/** The queues of those names that are in use, in their order. @throws ClosedError, StoreError */
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

/** A candidate in an election leads or stands by; a standby waits for nothing. */
export function isCandidate({ holder }: Pick<Member, 'holder'>): boolean {
  return holder.mark === CANDIDATE;
}

export function isElection({ holders, waiters }: Pick<Queue, 'holders' | 'waiters'>): boolean {
  return holders.some(isCandidate) || waiters.some(isCandidate);
}
