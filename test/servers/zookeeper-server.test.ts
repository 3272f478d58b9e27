import { expect, it, onTestFinished } from 'vitest';
import { startSession } from '../clients/zookeeper/sessions.ts';
import { startZookeeper } from './zookeeper-server.ts';

it('is a 3.8, and starts with counters, which stop at the largest number', async () => {
  const counters = { '/full/a': 2 ** 31 - 3, '/b': -(2 ** 31) };
  const full = await startZookeeper({ counters });
  onTestFinished(() => full.close());
  expect(await full.fourLetters('srvr')).toMatch(/^Zookeeper version: 3\.8\./);
  const session = startSession(full.url);
  const numbers = async (parent: string): Promise<string[]> => {
    const made: string[] = [];
    for (const n of [1, 2, 3, 4, 5]) {
      const { path } = await session.create(`${parent}/${n}_`, { kind: 'ephemeral-sequential' });
      made.push(path.slice(parent.length + 1));
    }
    return made;
  };
  expect(await numbers('/full/a')).toEqual([
    ...['1_2147483645', '2_2147483646', '3_2147483647', '4_2147483647', '5_2147483647'],
  ]);
  expect(await numbers('/b')).toEqual([
    ...['1_-2147483648', '2_-2147483647', '3_-2147483646', '4_-2147483645', '5_-2147483644'],
  ]);
  // Twice the counter, less the children, and then no more than the lower 32 bits.
  expect((await session.getChildren('/full/a')).stat).toMatchObject({ cversion: -2 - 5 });
  expect((await session.getChildren('/full')).stat).toMatchObject({ cversion: 1 });
});
