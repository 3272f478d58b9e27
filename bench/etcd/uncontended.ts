/**
 * Acquire and release when nobody else wants the same lock. The floor is the bare client; then the
 * same with a lease for each hold, as the package etcd3 has it.
 */
import { uncontended } from '../uncontended.ts';
import { contender, FLOOR, LEASE_FLOOR, url } from './contest.ts';

const ROUNDS = 5;
const WAYS = [
  { way: 'one after another', tasks: 1, pairs: 200, goal: 0.85 },
  { way: '64 resources at once', tasks: 64, pairs: 1_920, goal: 3 },
];

const names = [FLOOR, LEASE_FLOOR, 'holdfast'];
const contenders = new Map(
  await Promise.all(names.map(async (one) => [one, await contender(one)(url)] as const)),
);
await uncontended('etcd/uncontended', { contenders, ways: WAYS, rounds: ROUNDS });
await Promise.all(Array.from(contenders.values(), ({ close }) => close()));
