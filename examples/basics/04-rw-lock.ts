/** A read-write lock: many read the configuration, one reloads it, then goes on as a reader. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocks, downgrade } from 'holdfast';
import { check } from '../shared/check.ts';
import { store } from '../shared/store.ts';

await using locks = createLocks(store);
const lock = locks.rwLock('config', { ttl: '30s' });

let config = { version: 1, complete: true };

async function serve(): Promise<number> {
  return lock.read.run(async () => {
    if (!config.complete) throw new Error('Read in the middle of a reload.');
    await sleep(5);
    return config.version;
  });
}

async function reload(): Promise<void> {
  await using lease = await lock.write.acquire({ wait: '10s' });
  config = { version: config.version + 1, complete: false };
  await sleep(20);
  config.complete = true;
  // Readers come in again, but no other reload does before this one is reported.
  await downgrade(lease);
  console.log(`reloaded: version ${config.version}`);
}

const before = [serve(), serve()];
const reloaded = reload();
// A waiting writer stops later readers, so the stream of readers cannot starve it.
const after = [serve(), serve()];
await reloaded;
const versions = `${await Promise.all(before)}; after: ${await Promise.all(after)}`;
check(versions === '1,1; after: 2,2', `read before: ${versions}`);
