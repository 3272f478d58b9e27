/** The job of the guide "Scheduled jobs", on machines whose clocks differ. */
import { createLocks, type Locks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { type SimulatedClock, simulatedClock } from 'holdfast/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { gate } from '../../support/gate.ts';
import { type Job, nightlyReport } from './nightly.ts';
import { expectShown } from './shown.ts';

let clock: SimulatedClock;
let machines: Locks[];
const log: string[] = [];

beforeEach(() => {
  clock = simulatedClock();
  const store = memoryStore({ clock });
  machines = ['one', 'two'].map((label) => createLocks(store, { clock, label }));
  log.length = 0;
});

afterEach(async () => {
  await Promise.all(machines.map((locks) => locks.close()));
  clock.stop();
});

/** The job on each machine, which the test starts instead of the night. */
function jobs(build: Job['build']) {
  return machines.map((locks, n) => {
    const job = nightlyReport({ locks, build, log: (line) => log.push(`${n + 1}: ${line}`) });
    job.pause();
    return { job, start: () => job.trigger() };
  });
}

test('one machine builds it, and the other leaves it to that one', async () => {
  const [one, two] = jobs(() => clock.sleep('2h'));
  await Promise.all([one?.start(), two?.start()]);
  expect(log).toEqual(['2: left to one', '1: built']);
});

test('a machine whose clock is behind finds it taken, although the work was quick', async () => {
  const [one, two] = jobs(async () => {});
  await one?.start();
  await clock.sleep('10s');
  await two?.start();
  expect(log).toEqual(['1: built', '2: left to one']);
  await clock.sleep('24h');
  await two?.start();
  expect(log.at(-1)).toBe('2: built');
});

test('work that hangs is told to stop, and the next night is another one', async () => {
  const stopped: unknown[] = [];
  const [one, two] = jobs((signal) =>
    stopped.length > 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            stopped.push(signal.reason);
            resolve();
          });
        }),
  );
  await one?.start();
  expect(stopped).toMatchObject([{ code: 'LEASE_LOST', reason: 'max-hold' }]);
  await clock.sleep('18h');
  await two?.start();
  expect(log).toEqual(['2: built']);
});

test('at the end no run begins any more, and the one under way finishes', async () => {
  const begun = gate();
  const [one] = jobs(() => {
    begun.open();
    return clock.sleep('5s');
  });
  const run = one?.start();
  await begun.opened;
  one?.job.stop();
  await machines[0]?.close({ drain: '1m' });
  await run;
  expect(log).toEqual(['1: built']);
  expect(one?.job.nextRun()).toBe(null);
});

test('it is planned for three at night', () => {
  const [one] = jobs(async () => {});
  expect(one?.job.nextRun(new Date('2026-11-22T12:00:00Z'))).toEqual(
    new Date('2026-11-23T03:00:00Z'),
  );
  one?.job.stop();
});

test('the guide shows what is tested here', () => {
  expectShown('scheduled-jobs.md', new URL('nightly.ts', import.meta.url));
});
