/** Hazelcast, as three members with the CP Subsystem. */
import { fencedLockStore } from 'holdfast/hazelcast';
import { FENCED_FLOOR, floors, hazelcastClient } from '../floors/hazelcast.ts';
import { cpuMicros } from '../measuring/cpu.ts';
import type { Connected, Subject } from '../measuring/subject.ts';
import { locksOf, OURS } from './ours.ts';

const FENCED = 'holdfast, fencedLockStore';

async function withFencedLocks(url: string): Promise<Connected> {
  const client = await hazelcastClient(url);
  return locksOf(fencedLockStore(client), { end: () => client.shutdown() });
}

export const hazelcast: Subject = {
  name: 'Hazelcast',
  contenders: { ...floors, ...OURS, [FENCED]: withFencedLocks },
  alone: [[FENCED_FLOOR, FENCED, 'holdfast']],
  pairs: [200, 640],
  contended: [FENCED_FLOOR, FENCED, 'holdfast'],
  // Requests of its clients are not counted.
  asks: 'requests',
  observe: ({ pids }) => ({ work: async () => ({ 'server CPU µs': cpuMicros(pids) }) }),
};
