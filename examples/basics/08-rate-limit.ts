/** At most three calls a second, from all processes together: permits that stay taken. */
import { createLocks } from 'holdfast';
import { check } from '../shared/check.ts';
import { store } from '../shared/store.ts';

await using locks = createLocks(store);
const api = locks.semaphore('shop-api', { limit: 3, minHold: '1s', ttl: '3s' });

/** When each call began, in ms. */
const calls: number[] = [];

/** Done in no time, but it counts for a second. */
async function call(): Promise<void> {
  await api.run(({ since }) => {
    calls.push(since);
  });
}

await Promise.all(Array.from({ length: 8 }, call));
calls.sort((a, b) => a - b);
const seconds = calls.map((at) => ((at - (calls[0] ?? at)) / 1000).toFixed(1));
console.log(`the calls began after ${seconds.join(', ')} s`);
// As far as the clocks of this process and of the store run at one rate.
const apart = calls.slice(3).every((at, i) => at - (calls[i] ?? 0) >= 990);
check(apart, `${calls.length} calls, and never more than 3 in a second`);
