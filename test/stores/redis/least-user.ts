/** The users of the page on Redis, who may do no more than is needed. */
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { RedisServer } from '../../servers/redis-server.ts';
import type { Connected, Place } from './conformance/suite.ts';

const users = readFileSync('docs/stores/redis.md', 'utf8').match(/^user locks .+$/gm) ?? [];

/** As the page has it, for the queues. */
export const QUEUE_USER: string = users[0] ?? '';

/** The same for plain locks whose keys begin with `lock:`. */
export const PLAIN_USER: string = users[1] ?? '';

export const LOGIN: { readonly username: string; readonly password: string } = {
  username: 'locks',
  password: 'secret',
};

export type Connect = (server: RedisServer) => Promise<Connected>;

export const byIoredis: Connect = async ({ host, port }) => {
  const client = new Redis({ host, port, ...LOGIN });
  return { client, end: () => client.disconnect() };
};

export const byNodeRedis: Connect = async ({ host, port }) => {
  const client = await createClient({ socket: { host, port }, ...LOGIN }).connect();
  return { client, end: () => client.destroy() };
};

/** A server that knows this user, and a client that is logged in as such. */
export async function startFor(
  user: string,
  connect: Connect,
): Promise<Place & { readonly server: RedisServer }> {
  const server = await RedisServer.start({ config: [user] });
  const { client, end } = await connect(server);
  return {
    ...{ server, client },
    async close() {
      await end();
      await server.close();
    },
  };
}

/** For the conformance suite. */
export async function leastUser(connect: Connect): Promise<Place> {
  return {
    ...(await startFor(QUEUE_USER, connect)),
    async another() {
      const place = await startFor(QUEUE_USER, connect);
      return { ...place, servers: [place.server] };
    },
  };
}
