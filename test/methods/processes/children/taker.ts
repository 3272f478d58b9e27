/**
 * Takes locks of a Sentinel group again and again, for as long as the test lasts, and tells of each
 * hold. It keeps a lock for a moment, or for as long as it is told to.
 */
import { createLocks, type Lease } from 'holdfast';
import { type RedisClient, redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { createSentinel } from 'redis';
import { patiently } from '../../../support/patiently.ts';
import type { HoldRecord } from '../../histories/holds.ts';
import { given, machineMs, sleep, tell } from './talk.ts';

/** So that a history of some dozen seconds has hundreds of holds, not thousands; in ms. */
const MOMENT_MS = 20;

export interface TakerOptions {
  readonly client: 'ioredis' | 'node-redis';
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** What the Sentinels call the primary. */
  readonly group: string;
  /** For each of them there is a task. */
  readonly resources: readonly string[];
  readonly ttl: number;
}

/** From now on it keeps this lock, once it has it, and says `keeps`; or none. */
export type Keep = { readonly keep?: string };

export interface Took {
  /** The resource. */
  readonly type: string;
  readonly hold: HoldRecord;
}

const { client, sentinels, group, resources, ttl } = given<TakerOptions>();
let kept: string | undefined;
process.on('message', (told) => (kept = (told as Keep).keep));
process.once('disconnect', () => process.exit());
const locks = createLocks(redisStore(await connected()), { ttl });
await Promise.all(resources.map(take));

async function connected(): Promise<RedisClient> {
  const places = [...sentinels];
  if (client === 'ioredis') return new Redis({ sentinels: places, name: group, lazyConnect: true });
  const redis = createSentinel({ name: group, sentinelRootNodes: places });
  redis.on('error', () => {});
  // Otherwise it is told of no fail-over.
  await redis.connect();
  return redis;
}

async function take(resource: string): Promise<never> {
  for (;;) {
    const requestedAt = machineMs();
    const lease = await patiently(locks.mutex(resource));
    const grantedAt = machineMs();
    const endedAt = await believed(lease, grantedAt);
    const hold: HoldRecord = {
      ...{ resource, token: lease.token, permits: 1, limit: 1, process: process.pid },
      ...{ requestedAt, grantedAt, endedAt },
    };
    const released = lease.release();
    await tell({ type: resource, hold } satisfies Took);
    await released;
    await sleep(Math.random() * MOMENT_MS);
  }
}

/** Keeps the lease; resolves with the last time at which it said that it is held. */
async function believed(lease: Lease, grantedAt: number): Promise<number> {
  const enoughAt = grantedAt + Math.random() * MOMENT_MS;
  let heldAt = grantedAt;
  let keeps = false;
  for (;;) {
    // The time is read first, so that the lease was held at that time at least.
    const at = machineMs();
    if (!lease.held) return heldAt;
    heldAt = at;
    if (kept === lease.resource && !keeps) await tell({ type: 'keeps' });
    keeps = kept === lease.resource;
    if (!keeps && at >= enoughAt) return heldAt;
    await sleep(1);
  }
}
