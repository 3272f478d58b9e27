import { afterAll, expect, test } from 'vitest';
import { costOfPairs } from '../../methods/faults/pair-cost.ts';
import { startEtcd } from '../../servers/etcd-server.ts';
import { Bed } from './fault-bed.ts';

const PAIRS = 200;

const server = await startEtcd();
afterAll(() => server.close());

test('a free lock makes no promise, and no timer for a request', async () => {
  await using bed = new Bed(server);
  const store = bed.store(server);
  // The connection is there, and so is a lease.
  await costOfPairs(store, 5);
  const { promises, timers } = await costOfPairs(store, PAIRS);
  // Others in this process make some.
  expect(promises).toBeLessThan(PAIRS / 2);
  expect(timers).toBeLessThan(PAIRS / 2);
});
