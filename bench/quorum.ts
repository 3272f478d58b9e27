/**
 * Acquire and release over several servers when nobody else wants the lock: what a majority costs
 * beside one server, and what tokens cost, which take a second round. Redlock beside it.
 */
import { createLocks, type Store } from 'holdfast';
import { quorum } from 'holdfast/quorum';
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import Redlock from 'redlock';
import { type Connected, TTL_MS } from './contender.ts';
import { observe } from './redis/server.ts';
import { type Candidate, report, takeTurns, timed } from './result.ts';

const FIGURE = 'quorum';
const ROUNDS = 5;
const PAIRS = 300;

const urls = (process.env.BENCH_QUORUM ?? '').split(',');
const servers = urls.map((url) => observe(url));

interface Contender {
  readonly name: string;
  readonly connected: Connected;
}

const contenders: readonly Contender[] = [
  { name: 'one server', connected: ours(1, true) },
  ...[3, 5].flatMap((count) => [
    { name: `${count} servers, without tokens`, connected: ours(count, false) },
    { name: `${count} servers`, connected: ours(count, true) },
    { name: `redlock, ${count} servers`, connected: redlock(count) },
  ]),
];

const acquires = contenders.map(({ connected }, n) => connected.task(`${FIGURE}:${n}`));
const candidates = contenders.map(
  ({ name }, n): Candidate => ({ name, round: () => timed(PAIRS, () => pair(n)) }),
);
const outcomes = await takeTurns(candidates, ROUNDS);
for (const [n, { name, perSecond, median, p99, timeRatio }] of outcomes.entries()) {
  const commands = await commandsOf(n);
  const measured = { 'pairs/s': perSecond, 'median µs': median, 'p99 µs': p99, commands };
  report({ figure: FIGURE, what: name, measured, ratio: timeRatio });
}
await Promise.all(contenders.map(({ connected }) => connected.close()));
for (const { client } of servers) client.disconnect();

async function pair(n: number): Promise<void> {
  const release = await acquires[n]?.();
  await release?.();
}

/** What all servers together were sent for a pair; what is late belongs to it as well. */
async function commandsOf(n: number): Promise<number> {
  const sent = async (): Promise<number> => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const works = await Promise.all(servers.map((server) => server.work(false)));
    return works.reduce((sum, work) => sum + work.sent, 0);
  };
  const before = await sent();
  for (let i = 0; i < PAIRS; i++) await pair(n);
  return ((await sent()) - before) / PAIRS;
}

function ours(count: number, tokens: boolean): Connected {
  const clients = urls.slice(0, count).map((url) => new Redis(url));
  const stores = clients.map((client) => redisStore(client, { maxTtl: TTL_MS }));
  const members = tokens ? stores : stores.map(unraised);
  const [only] = members;
  const store = count === 1 && only ? only : quorum(members);
  const locks = createLocks(store, { ttl: TTL_MS });
  return {
    task: (resource) => {
      const lock = locks.mutex(resource);
      return async () => {
        const lease = await lock.acquire();
        return () => lease.release();
      };
    },
    async close() {
      await locks.close();
      for (const client of clients) client.disconnect();
    },
  };
}

/** The same store for a quorum without tokens. */
function unraised(store: Store): Store {
  return {
    name: store.name,
    traits: store.traits,
    lineage: store.lineage,
    claim: (claims) => store.claim(claims),
    renew: (claims) => store.renew(claims),
    release: (claims, after) => store.release(claims, after),
    inspect: (resource) => store.inspect(resource),
    watch: (claim, wake) =>
      store.watch?.(claim, wake) ?? Promise.reject(new Error('It has watch().')),
    close: async () => store.close?.(),
  };
}

function redlock(count: number): Connected {
  const clients = urls.slice(0, count).map((url) => new Redis(url));
  const locks = new Redlock(clients);
  return {
    task: (resource) => async () => {
      const lock = await locks.acquire([`redlock:${resource}`], TTL_MS);
      return () => lock.release();
    },
    close: async () => {
      for (const client of clients) client.disconnect();
    },
  };
}
