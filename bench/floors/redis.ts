/**
 * Floors: the fewest commands that do the work, with nothing around them.
 *
 * Uncontended, it is one SET and one compare-and-delete. Contended, it is one script that joins a
 * queue and one that leaves it: the second grants and tells in the same step, so a hand-off costs
 * one message. Nothing here expires a waiter, repairs a lost message, issues a token or notices
 * that a lease is over.
 */
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { type Connect, type Connected, TTL_MS } from '../measuring/subject.ts';

const COMPARE_AND_DELETE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

/** KEYS: lock, queue. ARGV: who asks, "channel number". */
const JOIN = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ${TTL_MS}) then return 1 end
redis.call('RPUSH', KEYS[2], ARGV[1])
return 0`;

/** KEYS: lock, queue. ARGV: who leaves. */
const LEAVE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local winner = redis.call('LPOP', KEYS[2])
if winner then
  redis.call('SET', KEYS[1], winner, 'PX', ${TTL_MS})
  redis.call('PUBLISH', string.match(winner, '^%S+'), winner)
else
  redis.call('DEL', KEYS[1])
end
return 1`;

/** The name by which the server then runs the script. */
export async function loaded(client: Redis, script: string): Promise<string> {
  return String(await client.script('LOAD', script));
}

async function withIoredis(url: string): Promise<Connected> {
  const client = new Redis(url);
  const script = await loaded(client, COMPARE_AND_DELETE);
  return {
    task: (resource) => {
      const key = `bare:${resource}`;
      return async () => {
        const reply = await client.set(key, 'id', 'PX', TTL_MS, 'NX');
        if (reply !== 'OK') throw new Error(`${key} is taken.`);
        return () => client.evalsha(script, 1, key, 'id');
      };
    },
    close: () => client.quit(),
  };
}

/** With the time limit that node-redis 6 sets for each command. */
async function withNodeRedis(url: string): Promise<Connected> {
  const client = createClient({ url });
  await client.connect();
  const script = await client.scriptLoad(COMPARE_AND_DELETE);
  return {
    task: (resource) => {
      const key = `bare:${resource}`;
      return async () => {
        const reply = await client.set(key, 'id', {
          expiration: { type: 'PX', value: TTL_MS },
          condition: 'NX',
        });
        if (reply !== 'OK') throw new Error(`${key} is taken.`);
        return () => client.evalSha(script, { keys: [key], arguments: ['id'] });
      };
    },
    close: () => client.close(),
  };
}

async function queueAndMessage(url: string): Promise<Connected> {
  const client = new Redis(url);
  const messages = client.duplicate();
  const [join, leave] = [await loaded(client, JOIN), await loaded(client, LEAVE)];
  const channel = `floor:${process.pid}:${process.hrtime.bigint()}`;
  const waiting = new Map<string, () => void>();
  messages.on('message', (_, winner: string) => waiting.get(winner)?.());
  await messages.subscribe(channel);
  let count = 0;

  const run = (script: string, resource: string, id: string): Promise<unknown> =>
    client.evalsha(script, 2, `floor:${resource}`, `floor:${resource}:queue`, id);
  return {
    task: (resource) => async () => {
      const id = `${channel} ${count++}`;
      const told = new Promise<void>((resolve) => waiting.set(id, resolve));
      if ((await run(join, resource, id)) === 0) await told;
      waiting.delete(id);
      return () => run(leave, resource, id);
    },
    close: () => Promise.all([client.quit(), messages.quit()]),
  };
}

export const floors: Readonly<Record<string, Connect>> = {
  'floor: SET NX PX + compare-and-delete, ioredis': withIoredis,
  'floor: SET NX PX + compare-and-delete, node-redis': withNodeRedis,
  'floor: queue and message': queueAndMessage,
};
