/** Of many requests for the same work, the one that runs ends, and then only the newest runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocks, LeaseLostError } from 'holdfast';
import { check } from '../shared/check.ts';
import { store } from '../shared/store.ts';

await using locks = createLocks(store);
const mutex = locks.mutex('search-index');
const ifBusy = 'replace-waiting';

const built: string[] = [];
const replaced: string[] = [];

/** What each save asks for: an index of all that is saved by then. */
async function rebuild(label: string): Promise<void> {
  try {
    await mutex.run({ ifBusy, label }, () => built.push(label));
  } catch (error) {
    if (!(error instanceof LeaseLostError && error.reason === 'replaced')) throw error;
    // The newer request sees this save, too.
    replaced.push(label);
  }
}

// A build that takes its time while people go on saving.
const running = await mutex.acquire({ ifBusy, label: 'save 1' });

const requests: Promise<void>[] = [];
for (let save = 2; save <= 10; save++) {
  const label = `save ${save}`;
  requests.push(rebuild(label));
  while ((await locks.inspect('search-index')).waiters[0]?.holder.label !== label) await sleep(5);
  console.log(`${label} waits, and no other`);
}
check(running.held, 'the build that runs is not disturbed');
await running.release();
await Promise.all(requests);
check(built.join() === 'save 10', `built next: ${built.join(', ')}`);
check(replaced.length === 8, `${replaced.length} builds were spared`);
