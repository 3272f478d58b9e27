/**
 * From one process to another on SQLite: the time from `release()` to the next grant, what a waiter
 * costs while it waits, and how many are woken by a hand-off. The floor is the same mechanism with
 * nothing around it: one statement and one byte into a watched file, and one statement on the
 * other side.
 */
import { join } from 'node:path';
import { createLocks } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { openBare } from './bare-sqlite.ts';
import type { Crowd, CrowdOptions } from './crowd-worker.ts';
import type { HandOffOptions, Turns } from './hand-off-worker.ts';
import { scratchFolder, start, together } from './processes.ts';
import { atMost, type Round, report, takeTurns } from './result.ts';
import type { Waited, WaitOptions } from './waiter-worker.ts';

const FIGURE = 'hand-off';
const ROUNDS = 5;
const WARM_UP = 20;

/** While 4 to 16 processes hand one lock around: how long it is held, and how long we look. */
const CROWD_HOLD_MS = 1;
const CROWD_MS = 5_000;
const CROWDS = [4, 8, 16];

const folder = scratchFolder();
let files = 0;

await between('hold 6 ms, gap 3 ms', { holdMs: 6, gapMs: 3, turns: 120 });
await between('hold 0, gap 0', { holdMs: 0, gapMs: 0, turns: 2_000 });
await whileWaiting();
await wakeUps();

type Pace = Pick<HandOffOptions, 'holdMs' | 'gapMs' | 'turns'>;

async function between(title: string, pace: Pace): Promise<void> {
  const outcomes = await takeTurns(
    [
      { name: `floor: watched file + statement, ${title}`, round: () => pass('bare', pace) },
      { name: `holdfast, ${title}`, round: () => pass('holdfast', pace) },
    ],
    ROUNDS,
  );
  outcomes.forEach(({ name, perSecond, median, p99, timeRatio }, n) => {
    report({
      figure: FIGURE,
      what: name,
      measured: { 'hand-offs/s': perSecond, 'median µs': median, 'p99 µs': p99 },
      ...(n === 0 ? { ratio: timeRatio } : atMost(1.5, timeRatio)),
    });
  });
}

/** Only hand-offs to somebody who was already waiting count. */
async function pass(candidate: HandOffOptions['candidate'], pace: Pace): Promise<Round> {
  const file = join(folder, `hand-off-${files++}.db`);
  // Two processes that turn the same new file to WAL at once would fail.
  if (candidate === 'bare') openBare(file).close();
  const workers = [0, 1].map((me): HandOffOptions => ({ candidate, file, me, ...pace }));
  const all = await together<Turns>('hand-off-worker', workers);
  const turns = all.flatMap(({ claimed, granted, released }, who) =>
    granted.map((at, n) => ({
      ...{ who, granted: at, claimed: claimed[n] ?? 0, released: released[n] ?? 0 },
    })),
  );
  turns.sort((a, b) => a.granted - b.granted);
  const micros: number[] = [];
  for (let n = WARM_UP; n < turns.length; n++) {
    const [before, after] = [turns[n - 1], turns[n]];
    if (!before || !after || before.who === after.who || after.claimed > before.released) continue;
    if (after.granted < before.released) throw new Error('Two held the lock at once.');
    micros.push((after.granted - before.released) / 1000);
  }
  const lasted = (turns.at(-1)?.granted ?? 0) - (turns[WARM_UP]?.granted ?? 0);
  return { perSecond: micros.length / (lasted / 1e9), micros };
}

async function whileWaiting(): Promise<void> {
  const file = join(folder, 'waiting.db');
  const locks = createLocks(sqliteStore(file));
  const lease = await locks.mutex('one').acquire();
  const forMs = 10_000;
  const options = (waits: boolean): WaitOptions => ({ file, waits, forMs });
  const idle = start<Waited>('waiter-worker', options(false));
  const waiter = start<Waited>('waiter-worker', options(true));
  await Promise.all([idle.ready, waiter.ready]);
  idle.go();
  waiter.go();
  const floor = await idle.answer;
  const ours = await waiter.answer;
  await lease.release();
  await locks.close();
  const row = ({ cpuMs, switches }: Waited): Record<string, number> => ({
    'CPU ms/s': cpuMs / (forMs / 1000),
    'switches/s': switches / (forMs / 1000),
  });
  report({ figure: FIGURE, what: 'floor: a process that sleeps', measured: row(floor) });
  report({
    figure: FIGURE,
    what: 'holdfast, a process that waits for the lock',
    measured: row(ours),
    goal: '≤ 1 ms CPU/s more than asleep',
    met: (ours.cpuMs - floor.cpuMs) / (forMs / 1000) <= 1,
  });
}

async function wakeUps(): Promise<void> {
  let fewest = 0;
  for (const processes of CROWDS) {
    const file = join(folder, `crowd-${processes}.db`);
    const options: CrowdOptions = { file, holdMs: CROWD_HOLD_MS, forMs: CROWD_MS };
    const workers = Array.from({ length: processes }, () => options);
    const all = await together<Crowd>('crowd-worker', workers);
    const sum = (value: (one: Crowd) => number): number =>
      all.reduce((total, one) => total + value(one), 0);
    const grants = sum((one) => one.grants);
    const events = sum((one) => one.events) / grants;
    if (events === 0) throw new Error('Nobody was woken through a file: nothing was measured.');
    if (processes === CROWDS[0]) fewest = events;
    report({
      figure: FIGURE,
      what: `holdfast, ${processes} processes on one lock, hold ${CROWD_HOLD_MS} ms`,
      measured: {
        'hand-offs/s': grants / (CROWD_MS / 1000),
        'events a hand-off': events,
        'store calls a hand-off': sum((one) => one.calls) / grants,
        'switches a hand-off': sum((one) => one.switches) / grants,
        'least share %': (100 * processes * Math.min(...all.map((one) => one.grants))) / grants,
      },
      ...(processes === CROWDS[0] ? { ratio: 1 } : atMost(1.25, events / fewest)),
    });
  }
}
