import { afterAll, test } from 'vitest';
import { expectNoCost } from '../../methods/faults/pair-cost.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';
import { Bed } from './fault-bed.ts';

const server = await startZookeeper();
afterAll(() => server.close());

test('a free lock makes no promise, and no timer for a request', async () => {
  await using bed = new Bed(server);
  await expectNoCost(bed.store(server));
});
