/**
 * A process that locks, told what to do by its arguments: the file, the job, and a number.
 * It answers with messages.
 */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Claim, ClaimStatus } from '../../../../src/contract/store.ts';
import { sqliteStore } from '../../../../src/stores/sqlite/index.ts';
import { claimOf } from './claim-of.ts';

const [file = '', job = '', count = '0'] = process.argv.slice(2);
const store = sqliteStore(file);

function say(message: unknown): void {
  process.send?.(message);
}

/** Waits its turn, woken by hints alone. */
async function acquire(claim: Claim): Promise<bigint> {
  let admitted: (token: bigint) => void = () => {};
  const woken = new Promise<bigint>((resolve) => {
    admitted = resolve;
  });
  const note = (status?: ClaimStatus) => status?.state === 'held' && admitted(status.token);
  const watching = await store.watch?.(claim, note);
  const [status] = await store.claim([claim]);
  note(status);
  // The claim alone does not keep the process alive; in a program, the heartbeat does.
  const alive = setInterval(() => {}, 1_000);
  const token = await woken;
  clearInterval(alive);
  await watching?.[Symbol.asyncDispose]();
  return token;
}

/** Everybody's first step at the same moment, on a file that does not exist. */
async function meet(): Promise<void> {
  say('ready');
  await once(process, 'message');
  const [status] = await store.claim([claimOf(`mine ${process.pid}`)]);
  say(status?.state);
}

/** Adds to a number in a file, which is only right if nobody else does so at the same time. */
async function add(): Promise<void> {
  const number = join(dirname(file), 'number');
  let last = 0n;
  for (let i = 0; i < Number(count); i++) {
    const claim = claimOf('number');
    const token = await acquire(claim);
    const [value = '0', seen = '0'] = readFileSync(number, 'utf8').split(' ');
    if (token <= last || token <= BigInt(seen)) throw new Error('a token did not grow');
    last = token;
    writeFileSync(number, `${Number(value) + 1} ${token}`);
    await store.release([claim]);
  }
  say('done');
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

/** Stands in a queue and reports how often it is woken. */
async function stand(): Promise<void> {
  const claim = claimOf('queue');
  let wakes = 0;
  await store.watch?.(claim, () => wakes++);
  await store.claim([claim]);
  process.on('message', () => say(wakes));
  say('standing');
}

async function run(): Promise<void> {
  if (job === 'meet') await meet();
  else if (job === 'add') await add();
  else if (job === 'churn') await churn();
  else return stand();
  await store.close?.();
  process.disconnect();
}

void run();
