/**
 * Acquire and release over several servers of a free lock: what a majority costs
 * beside one server, and what tokens cost, which take a second round. Redlock beside it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { quorum } from 'holdfast/quorum';
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { report, takeTurns, timed } from '../measuring/result.ts';
import type { Connected, Place } from '../measuring/subject.ts';
import { redlockOn } from '../rivals/redis.ts';
import { locksOf } from '../stores/ours.ts';
import { redis } from '../stores/redis.ts';

const ROUNDS = 5;
const PAIRS = 300;
const COUNTS = [3, 5];

/** Independent servers, as many as it takes. */
export async function measure(places: readonly Place[]): Promise<void> {
  const urls = places.map(({ url }) => url);
  const observers = await Promise.all(places.map((place) => redis.observe(place)));
  const contenders: [name: string, connected: Connected][] = [
    ['one server', ours(urls.slice(0, 1), true)],
    ...COUNTS.flatMap((count): [string, Connected][] => [
      [`${count} servers, without tokens`, ours(urls.slice(0, count), false)],
      [`${count} servers`, ours(urls.slice(0, count), true)],
      [`redlock, ${count} servers`, redlockOn(urls.slice(0, count))],
    ]),
  ];
  const candidates = contenders.map(([name, { task }], n) => {
    const acquire = task(`quorum:${n}`);
    const pair = async (): Promise<unknown> => (await acquire())();
    return { name, round: () => timed(PAIRS, pair) };
  });
  /** What all servers together were sent; what is late belongs to it as well. */
  const sent = async (): Promise<number> => {
    await sleep(200);
    const each = await Promise.all(observers.map((one) => one.work()));
    return each.reduce((sum, { commands = 0 }) => sum + commands, 0);
  };
  for (const [n, outcome] of (await takeTurns(candidates, ROUNDS)).entries()) {
    const { name, perSecond, median, p99, timeRatio } = outcome;
    const before = await sent();
    await candidates[n]?.round();
    const commands = ((await sent()) - before) / PAIRS;
    const measured = { 'pairs/s': perSecond, 'median µs': median, 'p99 µs': p99, commands };
    report({ what: name, measured, ratio: timeRatio });
  }
  for (const [, { close }] of contenders) await close();
  for (const observer of observers) observer.close?.();
}

function ours(urls: readonly string[], tokens: boolean): Connected {
  const clients = urls.map((url) => new Redis(url));
  const stores = clients.map((client) => redisStore(client));
  // Members that cannot raise numbers make a quorum without tokens.
  if (!tokens) for (const store of stores) Object.assign(store, { raise: undefined });
  const [only] = stores;
  const store = stores.length === 1 && only ? only : quorum(stores);
  return locksOf(store, { end: () => clients.forEach((client) => client.disconnect()) });
}
