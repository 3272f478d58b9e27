import { afterAll, expect, test } from 'vitest';
import { costOfPairs } from '../../methods/faults/pair-cost.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';
import { Bed } from './fault-bed.ts';

const PAIRS = 200;

const server = await startZookeeper();
afterAll(() => server.close());

test('a free lock makes no promise, and no timer for a request', async () => {
  await using bed = new Bed(server);
  const store = bed.store(server);
  // The session is there, and so is the queue.
  await costOfPairs(store, 5);
  const { promises, timers } = await costOfPairs(store, PAIRS);
  // Others in this process make some.
  expect(promises).toBeLessThan(PAIRS / 2);
  expect(timers).toBeLessThan(PAIRS / 2);
});
