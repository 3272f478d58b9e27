/** SQLite, which no server counts for: each process counts what it does itself. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createTables, floors, openBare } from '../floors/sqlite.ts';
import type { Subject, Work } from '../measuring/subject.ts';
import { calls, OURS } from './ours.ts';

const WITHOUT_ROWID = 'floor: INSERT + DELETE, WITHOUT ROWID';

let events = 0;

/** Every event of every `fs.watch` that begins after this module was imported. */
const watch = fs.watch;
fs.watch = ((...args: Parameters<typeof watch>) => {
  const watcher = watch(...args);
  watcher.on('change', () => events++);
  return watcher;
}) as typeof watch;
syncBuiltinESMExports();

function counts(): Work {
  const switches = process.resourceUsage().voluntaryContextSwitches;
  return { 'store calls': calls(), events, switches };
}

export const sqlite: Subject = {
  name: 'SQLite',
  contenders: { ...floors, ...OURS },
  alone: [[WITHOUT_ROWID, 'floor: INSERT + DELETE, rowid table', 'holdfast']],
  pairs: [15_000, 30_000],
  goals: [0.7, 3],
  contended: ['holdfast', 'holdfast, fair'],
  pair: ['floor: watched file + statement', 'holdfast'],
  asks: 'store calls',
  crowd: { ratio: 1.5 },
  waiters: {
    ...{ processes: 'all', tasks: [4, 8, 16] },
    ...{ steady: 'events an acquisition', growth: 1.25 },
  },
  leases: { count: 10_000, asks: 100, slack: 0, bytes: 2_048 },
  observe({ url }) {
    // Processes that turn the same new file to WAL at once would fail.
    const database = openBare(url);
    createTables(database);
    database.close();
    return { work: async () => counts(), close: () => {} };
  },
  counts,
};
