/** Memory, whose locks are those of one process; what they cost is told by no server. */
import type { Subject } from '../measuring/subject.ts';
import { calls, OURS } from './ours.ts';

export const memory: Subject = {
  name: 'memory',
  contenders: OURS,
  alone: [['holdfast']],
  pairs: [15_000, 30_000],
  contended: ['holdfast', 'holdfast, fair'],
  asks: 'store calls',
  crowd: {},
  waiters: { processes: 1, tasks: [10, 100, 1_000], steady: 'gap median ms', growth: 1.3 },
  leases: { count: 10_000, asks: 100, slack: 0, bytes: 2_048 },
  observe: () => ({ work: async () => ({ 'store calls': calls() }), close: () => {} }),
};
