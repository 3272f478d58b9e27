/** Several real processes on one file. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import { programOf } from '../../support/program-of.ts';
import { HANG_MS } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { claimOf, connect, hold, open, test } from './bed.ts';

const LOCKER = programOf('test/stores/sqlite/children/locker.ts');

function start(file: string, job: string): ChildProcess {
  const { execArgv } = LOCKER;
  const child = fork(LOCKER.file, [file, job], { execArgv });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function message(child: ChildProcess): Promise<unknown> {
  const exited = once(child, 'exit').then(([code, signal]) => `exit ${code} ${signal}`);
  return Promise.race([once(child, 'message').then(([said]) => said), exited]);
}

test('eight processes create the file at the same moment', async ({ file }) => {
  const children = Array.from({ length: 8 }, () => start(file, 'meet'));
  expect(await Promise.all(children.map(message))).toEqual(children.map(() => 'ready'));
  for (const child of children) child.send('go');
  expect(await Promise.all(children.map(message))).toEqual(children.map(() => 'held'));
  const database = await connect(file);
  // Those who leave last tidy up, which locks the file for a moment.
  database.exec(`PRAGMA busy_timeout = ${HANG_MS}`);
  expect(database.prepare('SELECT lineage FROM holdfast_meta').all()).toHaveLength(1);
});

test('killed at any instruction, a process leaves the file usable', async ({ file }) => {
  const store = open(file, { busyMs: HANG_MS });
  let last = await hold(store, claimOf('first'));
  const children = Array.from({ length: 16 }, () => start(file, 'churn'));
  expect(await Promise.all(children.map(message))).toEqual(children.map(() => 'churning'));
  for (const child of children) {
    // By chance, so that the kill finds them everywhere.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    const claim = claimOf('after a kill');
    const token = await hold(store, claim);
    expect(token).toBeGreaterThan(last);
    last = token;
    await store.release([claim]);
    await exit;
  }
  // What they left behind has died with its TTL, in whatever state it was.
  await until(async () => {
    const queues = await Promise.all([0, 1, 2, 3, 4, 5, 6].map((n) => store.inspect(`queue ${n}`)));
    return queues.every(({ holders, waiters }) => holders.length + waiters.length === 0);
  });
  const check = (await connect(file)).prepare('PRAGMA integrity_check').all();
  expect(check).toMatchObject([{ integrity_check: 'ok' }]);
});
