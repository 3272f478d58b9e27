/** Redis, with each client package. */
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { floors } from '../floors/redis.ts';
import type { Connected, Observer, Place, Subject, Work } from '../measuring/subject.ts';
import { rivals } from '../rivals/redis.ts';
import { locksOf, OURS } from './ours.ts';

/** They try with a plain SET, which none of their scripts call; all else they send are scripts. */
const SETS = /^(floor: SET|redis-semaphore)/;

const QUESTIONS = new Set(['info', 'command', 'client|setinfo', 'hello']);

async function withNodeRedis(url: string): Promise<Connected> {
  const client = createClient({ url });
  await client.connect();
  return locksOf(redisStore(client), { end: () => client.close() });
}

export const redis: Subject = {
  name: 'Redis',
  contenders: { ...floors, ...OURS, 'holdfast, node-redis': withNodeRedis, ...rivals },
  alone: [
    ['floor: SET NX PX + compare-and-delete, ioredis', 'holdfast', 'redlock', 'redis-semaphore'],
    ['floor: SET NX PX + compare-and-delete, node-redis', 'holdfast, node-redis'],
  ],
  pairs: [1_500, 6_400],
  goals: [0.9, 2],
  contended: ['floor: queue and message', 'holdfast', 'holdfast, fair', ...Object.keys(rivals)],
  asks: 'commands',
  crowd: { ratio: 1.3, commands: 2.5, 'longest wait': 1.2 },
  observe,
};

function observe({ url }: Place): Observer {
  const client = new Redis(url);
  return {
    work: (contender = '') => workOf(client, SETS.test(contender)),
    bytes: async () => field(await client.info('memory'), 'used_memory'),
    close: () => client.disconnect(),
  };
}

async function workOf(client: Redis, sets: boolean): Promise<Work> {
  const calls = new Map<string, number>();
  const stats = await client.info('commandstats');
  for (const [, name = '', n] of stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    if (!QUESTIONS.has(name)) calls.set(name, Number(n));
  }
  const of = (name: string): number => calls.get(name) ?? 0;
  const cpu = await client.info('cpu');
  return {
    commands: of('evalsha') + of('eval') + (sets ? of('set') : 0),
    'commands with those in scripts': [...calls.values()].reduce((sum, n) => sum + n, 0),
    'server CPU µs': (field(cpu, 'used_cpu_sys') + field(cpu, 'used_cpu_user')) * 1e6,
  };
}

/** A number in a reply to INFO. */
function field(info: string, name: string): number {
  return Number(new RegExp(`^${name}:(.+)`, 'm').exec(info)?.[1]);
}
