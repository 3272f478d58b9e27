/** A process that takes a lock and holds it until it is killed. */
import { createLocks } from 'holdfast';
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { TTL_MS } from '../contender.ts';
import { workerOptions } from '../processes.ts';
import type { HolderOptions } from './dead-holder.ts';

const { url, resource, ttlMs } = workerOptions<HolderOptions>();
const locks = createLocks(redisStore(new Redis(url), { maxTtl: TTL_MS }), { ttl: ttlMs });
await locks.mutex(resource).acquire();
// Nobody is left who would end it if the figure fails.
process.once('disconnect', () => process.exit());
process.send?.('held');
