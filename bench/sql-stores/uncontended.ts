/**
 * Acquire and release when nobody else wants the same lock: one after another, and with many
 * resources at once, with each client package. The floor is the bare client, with a connection for
 * each of those at once.
 */
import { uncontended } from '../uncontended.ts';
import { contender, database, name, url } from './database.ts';

const ROUNDS = 5;
const WAYS = [
  // So many that the first round, which does not count, is long enough to compile JavaScript.
  { way: 'one after another', tasks: 1, pairs: 1_500, goal: 0.8 },
  { way: '64 resources at once', tasks: 64, pairs: 1_920, goal: 4 },
];

const observer = await database.observe(url);
for (const names of database.uncontended) {
  const contenders = new Map(
    await Promise.all(names.map(async (one) => [one, await contender(one)(url)] as const)),
  );
  await uncontended(`${name}/uncontended`, { contenders, ways: WAYS, rounds: ROUNDS });
  await Promise.all(Array.from(contenders.values(), ({ close }) => close()));
}
await observer.close();
