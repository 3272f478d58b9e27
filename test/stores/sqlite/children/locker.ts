/** A process that locks, told what to do by its arguments: the file and the job; it answers. */
import { once } from 'node:events';
import { sqliteStore } from '../../../../src/stores/sqlite/index.ts';
import { HANG_MS } from '../../../support/this-run.ts';
import { claimOf } from './claim-of.ts';

const [file = '', job = ''] = process.argv.slice(2);
/** Who has the file may wait for a processor. */
const store = sqliteStore(file, { busyTimeout: HANG_MS });

function say(message: unknown): void {
  process.send?.(message);
}

/** Everybody's first step at the same moment, on a file that does not exist. */
async function meet(): Promise<void> {
  say('ready');
  await once(process, 'message');
  const [status] = await store.claim([claimOf(`mine ${process.pid}`)]);
  say(status?.state);
}

/** Enters, renews and leaves queues without end, to be killed at any instruction. */
async function churn(): Promise<void> {
  for (let i = 0; ; i++) {
    const claims = Array.from({ length: 1 + (i % 5) }, (_, n) =>
      claimOf(`queue ${(i + n) % 7}`, { ttlMs: 50, kind: 'permits', limit: 2 }),
    );
    await store.claim(claims);
    await store.renew(claims);
    await store.release(claims.slice(i % 2));
    if (i === 0) say('churning');
    if (i % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

async function run(): Promise<void> {
  if (job === 'meet') await meet();
  else await churn();
  await store.close?.();
  process.disconnect();
}

void run();
