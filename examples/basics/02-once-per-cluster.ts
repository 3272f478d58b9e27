/** A job that all machines of a cluster start at the same hour, and that only one of them runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocks } from 'holdfast';
import { check } from '../shared/check.ts';
import { store } from '../shared/store.ts';

await using locks = createLocks(store);

let built = 0;

async function buildReport(): Promise<string> {
  await sleep(20);
  built++;
  return 'report.pdf';
}

/** What cron starts on each machine. */
async function nightly(machine: string): Promise<void> {
  // The report is soon done, but clocks differ: the lock stays for longer than they can.
  const job = locks.mutex('nightly-report', { minHold: '10s' });
  const result = await job.tryRun({ label: machine }, buildReport);
  if (result.acquired) console.log(`${machine} has built ${result.value}`);
  else console.log(`${machine} leaves it to ${result.holders[0]?.holder.label}`);
}

await nightly('machine 1');
// Their clocks are slow: the work is done by now, and yet it is not done again.
await Promise.all([nightly('machine 2'), nightly('machine 3')]);
check(built === 1, `built ${built} time by 3 machines`);
