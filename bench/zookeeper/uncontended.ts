/**
 * Acquire and release when nobody else wants the same lock. The floor is the bare client, which
 * sends what it can without waiting for answers; then the same request by request, and Curator.
 */
import { uncontended } from '../uncontended.ts';
import { CURATOR, contender, FLOOR, SLOW_FLOOR, url } from './contest.ts';
import { Curator } from './curator.ts';

const ROUNDS = 5;
const WAYS = [
  // So many that the first round, which does not count, is long enough to compile Java.
  { way: 'one after another', tasks: 1, pairs: 500, goal: 0.85 },
  { way: '64 resources at once', tasks: 64, pairs: 1_920, goal: 0.85 },
];

const names = [FLOOR, SLOW_FLOOR, 'holdfast'];
const contenders = new Map(
  await Promise.all(names.map(async (one) => [one, await contender(one)(url)] as const)),
);
const curator = new Curator(url);
await uncontended('zookeeper/uncontended', {
  ...{ contenders, ways: WAYS, rounds: ROUNDS },
  others: ({ way, tasks, pairs }) => [curator.pairs(`${CURATOR}, ${way}`, { tasks, pairs })],
});
await Promise.all(Array.from(contenders.values(), ({ close }) => close()));
await curator.close();
