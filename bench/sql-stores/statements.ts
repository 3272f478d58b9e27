/**
 * What an acquisition and its release ask of the server, by its own counters, and round trips by
 * the protocol. Each is measured alone, until all its sessions have ended, whose numbers come then.
 */

import { Crew } from '../contended/crowd.ts';
import type { Acquire } from '../contender.ts';
import { sleep } from '../processes.ts';
import { report } from '../result.ts';
import { OURS } from './contest.ts';
import { contender, database, type Facts, name, url } from './database.ts';
import { countingProxy } from './round-trips.ts';

const PAIRS = 640;
const CROWD = { tasks: 100, holdMs: 0, forMs: 1_000 };
const PROCESSES = 4;
const [[FLOOR = '', HOLDFAST = ''] = []] = database.uncontended;
const [CONTENDED_FLOOR = ''] = database.contended;

const observer = await database.observe(url);
const proxy = await countingProxy(url, database.protocol);
for (const what of [FLOOR, HOLDFAST]) {
  await cost(`${what}, one after another`, () => uncontended(what, 1));
  await cost(`${what}, 64 resources at once`, () => uncontended(what, 64));
}
for (const what of [CONTENDED_FLOOR, OURS]) {
  await cost(`${what}, ${PROCESSES} processes of ${CROWD.tasks / PROCESSES}`, () => crowd(what));
}
proxy.close();
await observer.close();

async function cost(what: string, run: () => Promise<number>): Promise<void> {
  await alone();
  const before = await all();
  const times = await run();
  await alone();
  const after = await all();
  const measured = Object.fromEntries(
    Object.entries(after).map(([column, n]) => [column, (n - (before[column] ?? 0)) / times]),
  );
  const ours = what.startsWith('holdfast');
  // Those with which a connection begins are among them.
  const met = (measured['round trips'] ?? Number.NaN) <= 2.1;
  const goal = { goal: 'round trips ≤ 2, but for connecting', met };
  report({ figure: `${name}/statements`, what, measured, ...(ours && goal) });
}

async function all(): Promise<Facts> {
  const statements = await observer.statements();
  return { statements, 'round trips': proxy.trips, ...(await observer.facts()) };
}

async function alone(): Promise<void> {
  while ((await observer.others()) > 0) await sleep(20);
}

async function uncontended(what: string, tasks: number): Promise<number> {
  const { task, close } = await contender(what)(proxy.url);
  const acquires = Array.from({ length: tasks }, (_, n) => task(`statements:${n}`));
  const loop = async (acquire: Acquire): Promise<void> => {
    for (let n = 0; n < PAIRS / tasks; n++) await (await acquire())();
  };
  await Promise.all(acquires.map(loop));
  await close();
  return PAIRS;
}

async function crowd(what: string): Promise<number> {
  const crew = new Crew('sql-stores/crowd-worker', async () => ({}));
  const job = { contender: what, url: proxy.url, ...CROWD };
  const { acquisitions } = await crew.round(job, PROCESSES);
  crew.end();
  // Each process has taken a lock of its own before.
  return acquisitions + PROCESSES;
}
