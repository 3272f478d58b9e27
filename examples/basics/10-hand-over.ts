/** A lease that goes on in another program: nobody comes in between, and its token grows. */
import { createLocks, isLockError } from 'holdfast';
import { check } from '../shared/check.ts';
import { store } from '../shared/store.ts';

// Two programs: the shop takes the order, the warehouse packs it.
await using shop = createLocks(store, { label: 'shop' });
await using warehouse = createLocks(store, { label: 'warehouse' });

/** A queue of jobs. Like most, it may deliver a job twice. */
const jobs: string[] = [];

const lease = await shop.mutex('order:4711').acquire();
console.log('the shop charges the order');
const text = await lease.handOver();
jobs.push(text, text);

const between = await shop.mutex('order:4711').tryAcquire();
check(between === null && !lease.held, 'on its way nobody has it, and nobody gets it');

let packed = 0;
for (const job of jobs) {
  try {
    await using resumed = await warehouse.resume(job);
    console.log(`the warehouse packs it, with token ${resumed.token} after ${lease.token}`);
    packed++;
  } catch (error) {
    if (!isLockError(error, 'LEASE_LOST')) throw error;
    console.log(`not again: ${error.message}`);
  }
}
check(packed === 1, `the order was packed ${packed} time, and delivered ${jobs.length} times`);
