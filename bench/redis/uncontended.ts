/**
 * Acquire and release when nobody else wants the same lock: one after another, and with many
 * resources at once, with each client package. The floor is the bare client.
 */
import { performance } from 'node:perf_hooks';
import { atLeast, type Candidate, type Round, report, takeTurns, timed } from '../result.ts';
import type { Acquire } from './contender.ts';
import { contender } from './contenders.ts';
import { serverUrl } from './server.ts';

const FIGURE = 'redis/uncontended';
const ROUNDS = 7;

const WAYS = [
  { way: 'one after another', tasks: 1, pairs: 1_500, goal: 0.9 },
  { way: '64 resources at once', tasks: 64, pairs: 6_400, goal: 2 },
];

const CONTENDERS = {
  ioredis: [
    'floor: SET NX PX + compare-and-delete, ioredis',
    ...['holdfast', 'redlock', 'redis-semaphore', '@verrou/core', 'redlock-universal'],
  ],
  'node-redis': [
    'floor: SET NX PX + compare-and-delete, node-redis',
    'the same without commandTimeout',
    'holdfast, node-redis',
    'redlock-universal, node-redis',
  ],
};

const url = serverUrl();
for (const names of Object.values(CONTENDERS)) {
  const connected = await Promise.all(names.map((name) => contender(name).connect(url)));
  for (const { way, tasks, pairs, goal } of WAYS) {
    const candidates = connected.map(({ task }, n): Candidate => {
      const acquires = Array.from({ length: tasks }, (_, m) => task(`${FIGURE}:${m}`));
      return { name: `${names[n]}, ${way}`, round: () => atOnce(acquires, pairs) };
    });
    await compare(candidates, goal);
  }
  await Promise.all(connected.map(({ close }) => close()));
}

async function compare(candidates: readonly Candidate[], goal: number): Promise<void> {
  for (const outcome of await takeTurns(candidates, ROUNDS)) {
    const isOurs = outcome.name.startsWith('holdfast');
    report({
      figure: FIGURE,
      what: outcome.name,
      measured: {
        'pairs/s': outcome.perSecond,
        'median µs': outcome.median,
        'p99 µs': outcome.p99,
      },
      ...(isOurs ? atLeast(goal, outcome.rateRatio) : { ratio: outcome.rateRatio }),
    });
  }
}

async function atOnce(acquires: readonly Acquire[], pairs: number): Promise<Round> {
  const since = performance.now();
  const each = await Promise.all(
    acquires.map((acquire) =>
      timed(Math.ceil(pairs / acquires.length), async () => (await acquire())()),
    ),
  );
  const micros = each.flatMap((own) => Array.from(own.micros));
  return { perSecond: micros.length / ((performance.now() - since) / 1000), micros };
}
