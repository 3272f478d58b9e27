/**
 * A write to Redis, bare and through an entry: the same command inside of a script that begins with
 * the check; a script, bare and behind the check; and what a hold pays once, to enter.
 */
import { createHash } from 'node:crypto';
import { redisFence } from 'holdfast/fence';
import { Redis } from 'ioredis';
import { serverUrl } from '../redis/server.ts';
import { type Candidate, timed } from '../result.ts';
import { pairs } from './row.ts';

const FIGURE = 'fences/redis';
const WRITES = 3_000;
const SCRIPT = "return redis.call('INCRBY', KEYS[1], ARGV[1])";

const redis = new Redis(serverUrl());
const fence = redisFence();
const lease = { resource: 'stock:one', lineage: 'bench', token: 1n };
const entry = await fence.enter(redis, lease);
const sha = createHash('sha1').update(SCRIPT).digest('hex');
await redis.script('LOAD', SCRIPT);

const candidate = (name: string, once: () => Promise<unknown>): Candidate => ({
  name,
  round: () => timed(WRITES, once),
});

await pairs(FIGURE, [
  candidate('floor: SET', () => redis.set('stock:one', '1')),
  candidate('entry.write', () => entry.write([['SET', 'stock:one', 1]])),
]);
await pairs(FIGURE, [
  candidate('floor: EVALSHA', () => redis.evalsha(sha, 1, 'stock:one', '1')),
  candidate('entry.eval', () => entry.eval(SCRIPT, { keys: ['stock:one'], args: [1] })),
]);
await pairs(FIGURE, [
  candidate('floor: SET, again', () => redis.set('stock:one', '1')),
  candidate('fence.enter', () => fence.enter(redis, lease)),
]);
await fence.close();
redis.disconnect();
