/**
 * Acquire and release when nobody else wants the same lock: one after another, and with many
 * resources at once, with each client package. The floor is the bare client.
 */
import { uncontended } from '../uncontended.ts';
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
  const contenders = new Map(connected.map((one, n) => [names[n] ?? '', one]));
  await uncontended(FIGURE, { contenders, ways: WAYS, rounds: ROUNDS });
  await Promise.all(connected.map(({ close }) => close()));
}
