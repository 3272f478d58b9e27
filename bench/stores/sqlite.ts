/** SQLite, which no server counts for: each process counts what it does itself. */
import { createTables, floors, QUEUE_FLOOR, ROW_FLOOR } from '../floors/sqlite.ts';
import type { Subject, Work } from '../measuring/subject.ts';
import { calls, OURS } from './ours.ts';

const counts = (): Work => ({ 'store calls': calls() });

export const sqlite: Subject = {
  name: 'SQLite',
  contenders: { ...floors, ...OURS },
  alone: [[ROW_FLOOR, 'holdfast']],
  pairs: [15_000, 30_000],
  goals: [0.7, 3],
  contended: [QUEUE_FLOOR, 'holdfast', 'holdfast, fair'],
  asks: 'store calls',
  observe({ url }) {
    createTables(url);
    return { work: async () => counts() };
  },
  counts,
};
