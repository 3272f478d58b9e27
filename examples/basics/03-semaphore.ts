/** A semaphore with weights: jobs share four GPUs, and big ones are not overtaken for ever. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocks } from 'holdfast';
import { check } from '../shared/check.ts';
import { store } from '../shared/store.ts';

await using locks = createLocks(store);
const gpus = locks.semaphore('gpu', { limit: 4 });

let busy = 0;
let most = 0;
const order: string[] = [];

async function train(model: string, permits: number): Promise<void> {
  await gpus.run({ permits, label: model }, async ({ signal }) => {
    order.push(model);
    busy += permits;
    most = Math.max(most, busy);
    await sleep(20, undefined, { signal });
    busy -= permits;
  });
}

await Promise.all([
  train('small', 1),
  train('medium', 2),
  // Needs all four: it waits for those before it, and those behind wait for it.
  train('large', 4),
  train('tiny', 1),
]);
const inOrder = order.join(', ') === 'small, medium, large, tiny';
check(inOrder, `started in order: ${order.join(', ')}`);
check(most <= 4, `at most ${most} of 4 GPUs were busy`);
