/** Servers as people run them. Each is ready when its promise resolves; `close` ends all of it. */
import { RedisServer, type RedisServerOptions } from './redis-server.ts';

export function startSingle(options: RedisServerOptions = {}): Promise<RedisServer> {
  return RedisServer.start(options);
}

/** Independent servers, for a quorum. */
export function startFive(options: RedisServerOptions = {}): Promise<RedisServer[]> {
  return Promise.all(Array.from({ length: 5 }, () => RedisServer.start(options)));
}
