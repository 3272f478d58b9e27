import { afterAll, test } from 'vitest';
import { expectNoCost } from '../../methods/faults/pair-cost.ts';
import { startEtcd } from '../../servers/etcd-server.ts';
import { Bed } from './fault-bed.ts';

const server = await startEtcd();
afterAll(() => server.close());

test('a free lock makes no promise, and no timer for a request', async () => {
  await using bed = new Bed(server);
  await expectNoCost(bed.store(server));
});
