/** A mutex: one at a time, among the tasks of this process and of all others on the same store. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocks } from 'holdfast';
import { check } from '../shared/check.ts';
import { store } from '../shared/store.ts';

await using locks = createLocks(store);

let balance = 0;

async function deposit(amount: number): Promise<void> {
  await locks.mutex('account:42').run({ wait: '10s' }, async ({ signal }) => {
    const before = balance;
    // Stands for a call to elsewhere, which ends early if the lock is lost.
    await sleep(5, undefined, { signal });
    balance = before + amount;
  });
}

await Promise.all(Array.from({ length: 20 }, () => deposit(10)));
check(balance === 200, `20 deposits of 10 at the same time make ${balance}`);
