/** Who has stalled past its lease records nothing, although it looked at the lease before. */
import { createLocks } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { once } from 'holdfast/once';
import { expect, onTestFinished } from 'vitest';
import { paced } from '../../support/this-run.ts';
import { Child } from './child.ts';
import type { Kept } from './children/keeper.ts';
import type { OnStore } from './children/talk.ts';

/** A busy machine gets to the record in less. */
const TTL_MS = paced(3000);

/** SIGSTOP between the work and its record, on the store with this URL. */
export async function stallBeforeTheRecord(url: string): Promise<void> {
  const child = new Child('keeper', { store: url, ttl: TTL_MS } satisfies OnStore);
  await child.next('keeping');
  const locks = createLocks(await openStore(url));
  onTestFinished(() => locks.close({ drain: 0 }));
  const options = { keepFor: '1h', keepResult: true } as const;
  const second = await once(locks, 'report', options, () => 'the second');
  expect(second).toEqual({ state: 'ran', value: 'the second' });
  child.kill('SIGCONT');
  expect(await child.next<Kept>('kept')).toMatchObject({ answers: [false], end: 'LEASE_LOST' });
  const done = await once(locks, 'report', options, () => 'the third');
  expect(done).toMatchObject({ state: 'done', value: 'the second' });
}
