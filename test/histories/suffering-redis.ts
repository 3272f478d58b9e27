import { RedisServer } from '../servers/redis-server.ts';
import type { Sufferer } from './record.ts';

export interface SufferingRedis {
  /** Its URL, as `record` takes it. */
  readonly store: string;
  readonly server: Sufferer;
  close(): Promise<void>;
}

/** A server for one history at a time, which loses its data when it crashes. */
export async function sufferingRedis(): Promise<SufferingRedis> {
  const server = await RedisServer.start();
  return {
    // Hardly more than the TTL of the clients, so that quarantines leave time for work.
    store: `${server.url}?maxTtl=500ms`,
    server: {
      pause: () => server.pause(),
      resume: () => server.resume(),
      crash: () => server.restart({ keepData: false }),
    },
    close: () => server.close(),
  };
}
