/** Redis, alone or as a cluster. */
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { floors } from '../floors/redis.ts';
import type { Connect, Connected, Observer, Place, Subject, Work } from '../measuring/subject.ts';
import { RIVALS, rivals } from '../rivals/redis.ts';
import { locksOf, OURS } from './ours.ts';

const QUEUE = 'floor: queue and message';

/** They try with a plain SET, which none of their scripts call; all else they send are scripts. */
const SETS = /^(floor: SET|the same|redis-semaphore|@verrou|redlock-universal)/;

const QUESTIONS = new Set(['info', 'command', 'client|setinfo', 'hello']);

async function withNodeRedis(url: string): Promise<Connected> {
  const client = createClient({ url });
  await client.connect();
  return locksOf(redisStore(client), { end: () => client.close() });
}

const contenders: Readonly<Record<string, Connect>> = {
  ...floors,
  ...OURS,
  'holdfast, node-redis': withNodeRedis,
  ...rivals,
};

export const redis: Subject = {
  name: 'Redis',
  contenders,
  alone: [
    ['floor: SET NX PX + compare-and-delete, ioredis', 'holdfast', ...RIVALS],
    [
      'floor: SET NX PX + compare-and-delete, node-redis',
      'the same without commandTimeout',
      'holdfast, node-redis',
      'redlock-universal, node-redis',
    ],
  ],
  pairs: [1_500, 6_400],
  goals: [0.9, 2],
  contended: [
    ...[QUEUE, 'holdfast', 'holdfast, fair'],
    ...RIVALS.flatMap((name) => [name, `${name}, tuned`]),
  ],
  asks: 'commands',
  crowd: { ratio: 1.3, asks: 2.5, longest: 1.2 },
  waiters: {
    ...{ processes: 5, tasks: [10, 100, 1_000], asks: 2.5 },
    ...{ steady: 'gap median ms', growth: 1.3 },
  },
  leases: { count: 10_000, asks: 100, slack: 0 },
  observe,
};

/** Of a cluster, the work of all nodes. */
function observe({ url }: Pick<Place, 'url'>): Observer {
  const clients = nodesOf(url).map((node) => new Redis(node));
  const isCluster = clients.length > 1;
  return {
    async work(contender = '') {
      const each = await Promise.all(
        clients.map((client) => workOf(client, { sets: SETS.test(contender), isCluster })),
      );
      const sum = (name: string): number => each.reduce((all, own) => all + (own[name] ?? 0), 0);
      return Object.fromEntries(Object.keys(each[0] ?? {}).map((name) => [name, sum(name)]));
    },
    async bytes() {
      const each = await Promise.all(clients.map((client) => client.info('memory')));
      return each.reduce((sum, text) => sum + field(text, 'used_memory'), 0);
    },
    close: () => clients.forEach((client) => client.disconnect()),
  };
}

function nodesOf(url: string): string[] {
  const [, nodes] = /^redis\+cluster:\/\/(.*)$/.exec(url) ?? [];
  return nodes === undefined ? [url] : nodes.split(',').map((node) => `redis://${node}`);
}

/** A node that has sent other nodes no messages says nothing of them. */
async function workOf(
  client: Redis,
  { sets, isCluster }: { sets: boolean; isCluster: boolean },
): Promise<Work> {
  const calls = new Map<string, number>();
  const stats = await client.info('commandstats');
  for (const [, name = '', n] of stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    if (!QUESTIONS.has(name)) calls.set(name, Number(n));
  }
  const of = (name: string): number => calls.get(name) ?? 0;
  const cpu = await client.info('cpu');
  const info = isCluster ? String(await client.call('CLUSTER', 'INFO')) : '';
  return {
    commands: of('evalsha') + of('eval') + (sets ? of('set') : 0),
    'commands with those in scripts': [...calls.values()].reduce((sum, n) => sum + n, 0),
    'server CPU µs': (field(cpu, 'used_cpu_sys') + field(cpu, 'used_cpu_user')) * 1e6,
    ...(isCluster && {
      'messages between nodes': field(info, 'cluster_stats_messages_publish_sent') || 0,
    }),
  };
}

/** A number in a reply to INFO. */
function field(info: string, name: string): number {
  return Number(new RegExp(`^${name}:(.+)`, 'm').exec(info)?.[1]);
}
