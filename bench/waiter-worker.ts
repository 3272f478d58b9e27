/** A process that waits for a lock which somebody else holds, or one that just sleeps. */
import { createLocks } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { giveAnswer, sleep, theWord, workerOptions } from './processes.ts';

export interface WaitOptions {
  readonly file: string;
  readonly waits: boolean;
  readonly forMs: number;
}

export interface Waited {
  readonly cpuMs: number;
  readonly switches: number;
}

/** What starting costs is over by then. */
const SETTLE_MS = 1_000;

const { file, waits, forMs } = workerOptions<WaitOptions>();
const locks = createLocks(sqliteStore(file));
const waiting = new AbortController();
const wait = waits
  ? locks.mutex('one').acquire({ signal: waiting.signal })
  : new Promise((resolve) => waiting.signal.addEventListener('abort', resolve));
const ended = wait.then(
  () => 'granted',
  () => 'aborted',
);
await sleep(SETTLE_MS);
await theWord();

const cpu = process.cpuUsage();
const { voluntaryContextSwitches } = process.resourceUsage();
await sleep(forMs);
const { user, system } = process.cpuUsage(cpu);
const waited: Waited = {
  cpuMs: (user + system) / 1000,
  switches: process.resourceUsage().voluntaryContextSwitches - voluntaryContextSwitches,
};
waiting.abort();
if (waits && (await ended) !== 'aborted') throw new Error('The waiter got the lock.');
await locks.close();
giveAnswer(waited);
