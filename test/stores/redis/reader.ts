/** A user that may read all keys and send messages, but write nothing. */
import type { Locks } from 'holdfast';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import type { RedisServer } from '../../servers/redis-server.ts';
import type { Bed } from './bed.ts';

/** A line of the server's configuration. */
export const READER =
  'user reader on >pw resetchannels &* ~* -@all +@read +info +publish +pubsub +select';

export interface Reader {
  readonly redis: Redis;
  /** To all that listen. */
  send(message: string): Promise<void>;
}

export async function readerOn(bed: Bed, { host, port }: RedisServer): Promise<Reader> {
  const redis = new Redis({ host, port, username: 'reader', password: 'pw' });
  bed.use({ close: async () => redis.disconnect() });
  await expect(redis.set('holdfast::gold', '')).rejects.toThrow('NOPERM');
  return {
    redis,
    async send(message) {
      for (const channel of (await redis.pubsub('CHANNELS')) as string[]) {
        await redis.publish(channel, message);
      }
    },
  };
}

/** Resolves when this process has heard all messages so far: two replies came after them. */
export async function settled(waiter: Locks): Promise<void> {
  await waiter.inspect('gold');
  await waiter.inspect('gold');
}
