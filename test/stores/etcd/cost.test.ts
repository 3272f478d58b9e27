import { test } from 'vitest';
import { expectNoCost } from '../../methods/faults/pair-cost.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const server = await sharedServer();

test('a free lock makes no promise, and no timer for a request', async () => {
  await using bed = new Bed(server);
  await expectNoCost(bed.store(server));
});
