/**
 * What real processes write down is linearizable, while they are stopped, killed and blocked, and
 * the server stands still and crashes without its data. That it need not be, and would be found
 * out, is shown with the file that processes share (test/processes/histories.test.ts). Long runs:
 * `test/histories/run.ts --store redis`.
 */
import { expect, test } from 'vitest';
import { record } from '../histories/record.ts';
import { sufferingRedis } from '../histories/suffering-redis.ts';

/** On a busy machine it takes many processes long to start. */
const PATIENCE_MS = 120_000;

test.concurrent.each([1, 2])(
  'four processes and their server suffer: history %i is legal',
  {
    timeout: PATIENCE_MS,
  },
  async (seed) => {
    const { store, server, close } = await sufferingRedis();
    try {
      const { lock, counter, operations, faults } = await record({
        store,
        server,
        seed,
        seconds: 5,
      });
      expect(lock.disorders.map(({ message }) => message)).toEqual([]);
      expect(counter.disorders.map(({ message }) => message)).toEqual([]);
      expect(operations).toBeGreaterThan(50);
      expect(faults.filter((fault) => fault.startsWith('server')).length).toBeGreaterThan(0);
      expect(faults.filter((fault) => !fault.startsWith('server')).length).toBeGreaterThan(0);
    } finally {
      await close();
    }
  },
);
