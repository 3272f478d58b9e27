/** Deadlocks between real processes, on the store with a URL. */
import { createLocks, waitsOf } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { expect, onTestFinished } from 'vitest';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Child } from './child.ts';
import type { Dined, DinerOptions, ToldOfDeadlock } from './children/diner.ts';

/** The dead process's lock ends so soon; a busy machine does not lose the others'. */
const MORTAL_TTL_MS = paced(4_000);

/** Each holds the mutex that the one before it wants. */
async function diners(store: string, count: number, ttl = 10_000): Promise<Child[]> {
  const all = Array.from({ length: count }, (_, i) => {
    const [holds, wants] = [`fork ${i}`, `fork ${(i + 1) % count}`];
    return new Child('diner', { store, ttl, holds, wants } satisfies DinerOptions);
  });
  await Promise.all(all.map((child) => child.next('held')));
  return all;
}

/** All are told of each other, one is rejected, and the others get on. */
export async function ringOfProcesses(url: string, count: number): Promise<void> {
  const all = await diners(url, count);
  for (const child of all) child.tell({ type: 'go' });
  const ends = await Promise.all(all.map((child) => child.next<Dined>('end')));
  expect(ends.map(({ end }) => end).sort()).toEqual([
    'DEADLOCK',
    ...Array.from({ length: count - 1 }, () => 'got'),
  ]);
  const pids = all.map(({ pid }) => pid).sort();
  for (const child of all) {
    const told = child.heard<ToldOfDeadlock>('deadlock');
    expect(told.map((each) => [...each.pids].sort())).toEqual([pids]);
  }
}

/** The one that is killed waits no more, and its lock ends: that is no deadlock. */
export async function ringWithADeadProcess(url: string): Promise<void> {
  const [dies, lives] = (await diners(url, 2, MORTAL_TTL_MS)) as [Child, Child];
  const locks = createLocks(await openStore(url));
  onTestFinished(() => locks.close({ drain: 0 }));
  dies.tell({ type: 'go' });
  await until('published', async () => (await waitsOf(locks)).length === 1);
  dies.kill('SIGKILL');
  await dies.exited();
  lives.tell({ type: 'go' });
  expect(await lives.next<Dined>('end')).toMatchObject({ end: 'got' });
  expect(lives.heard('deadlock')).toEqual([]);
}
