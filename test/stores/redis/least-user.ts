/** The users of the page on Redis, who may do no more than is needed. */
import { readFileSync } from 'node:fs';
import { RedisServer } from '../../servers/redis-server.ts';
import type { Place } from './conformance/suite.ts';
import { end, type Package } from './packages.ts';

const users = readFileSync('docs/stores/redis.md', 'utf8').match(/^user locks .+$/gm) ?? [];

/** As the page has it, for the queues. */
export const QUEUE_USER: string = users[0] ?? '';

/** The same for plain locks whose keys begin with `lock:`. */
export const PLAIN_USER: string = users[1] ?? '';

export const LOGIN: { readonly username: string; readonly password: string } = {
  username: 'locks',
  password: 'secret',
};

/** A server that knows this user, and a client of such. */
export async function startFor(
  user: string,
  its: Package,
): Promise<Place & { readonly server: RedisServer }> {
  const server = await RedisServer.start({ config: [user] });
  const client = its.server(server, LOGIN);
  return {
    ...{ server, client },
    async close() {
      await end(client);
      await server.close();
    },
  };
}

/** For the conformance suite. */
export async function leastUser(its: Package): Promise<Place> {
  return {
    ...(await startFor(QUEUE_USER, its)),
    async another() {
      const place = await startFor(QUEUE_USER, its);
      return { ...place, servers: [place.server] };
    },
  };
}
