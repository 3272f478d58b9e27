/** One of many processes that all want the same lock all the time. */
import { performance } from 'node:perf_hooks';
import { createLocks } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { counted } from './counted.ts';
import { giveAnswer, sleep, theWord, workerOptions } from './processes.ts';
import { wakeUps } from './wake-ups.ts';

export interface CrowdOptions {
  readonly file: string;
  readonly holdMs: number;
  readonly forMs: number;
}

export interface Crowd {
  readonly grants: number;
  readonly events: number;
  readonly calls: number;
  readonly switches: number;
}

const { file, holdMs, forMs } = workerOptions<CrowdOptions>();
const { store, calls } = counted(sqliteStore(file));
const locks = createLocks(store);
const lock = locks.mutex('one');
await (await lock.acquire()).release();
await theWord();

const before = { events: wakeUps(), calls: calls(), switches: switches() };
const end = performance.now() + forMs;
let grants = 0;
while (performance.now() < end) {
  const lease = await lock.acquire();
  grants++;
  await sleep(holdMs);
  await lease.release();
}
const crowd: Crowd = {
  grants,
  events: wakeUps() - before.events,
  calls: calls() - before.calls,
  switches: switches() - before.switches,
};
await locks.close();
giveAnswer(crowd);

function switches(): number {
  return process.resourceUsage().voluntaryContextSwitches;
}
