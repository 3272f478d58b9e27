/** Hazelcast, as three members with the CP Subsystem. */
import { fencedLockStore } from 'holdfast/hazelcast';
import { FENCED_FLOOR, floors, hazelcastClient } from '../floors/hazelcast.ts';
import { cpuMicros } from '../measuring/cpu.ts';
import type { Connected, Subject } from '../measuring/subject.ts';
import { connectFencedLock, FENCED_LOCK } from '../rivals/java.ts';
import { locksOf, OURS } from './ours.ts';

const FENCED = 'holdfast, fencedLockStore';

async function withFencedLocks(url: string): Promise<Connected> {
  const client = await hazelcastClient(url);
  return locksOf(fencedLockStore(client), { end: () => client.shutdown() });
}

export const hazelcast: Subject = {
  name: 'Hazelcast',
  contenders: {
    ...{ ...floors, ...OURS, [FENCED]: withFencedLocks },
    [FENCED_LOCK]: connectFencedLock,
  },
  alone: [[FENCED_FLOOR, FENCED, 'holdfast', FENCED_LOCK]],
  // So many that the first round, which does not count, is long enough to compile Java.
  pairs: [200, 640],
  contended: [FENCED_FLOOR, FENCED, 'holdfast', 'holdfast, fair', FENCED_LOCK],
  // Nobody counts what its clients ask for.
  asks: 'requests',
  crowd: {},
  waiters: { processes: 2, tasks: [2, 10, 100], steady: 'gap median ms', growth: 1.3 },
  leases: { count: 1_000, asks: 1_000, slack: 0 },
  observe: ({ pids }) => ({
    work: async () => ({ 'server CPU µs': cpuMicros(pids) }),
    close: () => {},
  }),
};
