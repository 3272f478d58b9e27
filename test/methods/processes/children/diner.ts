/** Holds one mutex, waits until it is told to, and then for another inside it. */
import { createLocks, detectDeadlocks, isLockError } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { given, hear, type OnStore, tell } from './talk.ts';

export interface DinerOptions extends OnStore {
  readonly holds: string;
  readonly wants: string;
}

/** The event `deadlock`. */
export type ToldOfDeadlock = { readonly type: 'deadlock'; readonly pids: readonly number[] };

export interface Dined {
  readonly type: 'end';
  /** `got`, or the code of the error. */
  readonly end: string;
}

const { store, ttl, holds, wants } = given<DinerOptions>();
const locks = createLocks(await openStore(store), { ttl, label: holds });
detectDeadlocks(locks, { onDeadlock: 'reject', after: 500 });
locks.on('deadlock', ({ cycle }) => {
  const pids = cycle.map(({ holder }) => holder.pid);
  void tell({ type: 'deadlock', pids } satisfies ToldOfDeadlock);
});
const ends = locks.mutex(holds).run(async () => {
  await tell({ type: 'held' });
  await hear();
  return locks.mutex(wants).run(() => 'got');
});
const end = await ends.catch((error) => (isLockError(error) ? error.code : String(error)));
await tell({ type: 'end', end } satisfies Dined);
await locks.close();
process.disconnect();
