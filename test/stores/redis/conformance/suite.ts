/** The conformance suite on one kind of server, through one kind of client. */
import type { Store } from 'holdfast';
import { type RedisClient, type RedisOptions, redisStore } from 'holdfast/redis';
import type { Fixture, FixtureOptions } from 'holdfast/testkit';
import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { type SuiteOptions, suite } from '../../../methods/conformance/suite.ts';
import { claimOf } from '../../../methods/faults/bed.ts';
import type { ProgramName } from '../../../servers/programs.ts';
import { RedisServer } from '../../../servers/redis-server.ts';
import { HANG_MS, paced } from '../../../support/this-run.ts';
import { upFor } from '../bed.ts';
import { end } from '../packages.ts';

/** Something that can be connected to, shared by all cases. */
export interface Place {
  readonly client: RedisClient;
  /** As that of a fixture. */
  readonly shortMs?: number;
  close(): Promise<unknown>;
  /** Another place of the same kind, for a case that makes it lose its memory. */
  another?(): Promise<Forgetful>;
}

export interface Forgetful extends Place {
  /** Those who keep the claims. */
  readonly servers: readonly RedisServer[];
  /** Default: `flush`. */
  readonly forget?: Forget;
}

/** Makes servers lose their claims. */
export type Forget = (servers: readonly RedisServer[]) => Promise<unknown>;

/** The record of the store, which knows whose data it belongs to, is lost as well. */
export const flush: Forget = (servers) =>
  Promise.all(servers.map((server) => server.command('FLUSHALL')));

/** A crash of a server that keeps nothing on disk. */
export const restartEmpty: Forget = (servers) =>
  Promise.all(servers.map((server) => server.restart({ keepData: false })));

/** A crash of a server that has an old copy on disk: the record of the store is there again. */
export const restartSetBack: Forget = (servers) =>
  Promise.all(
    servers.map(async (server) => {
      const keys = (await server.command('KEYS', '*')) as string[];
      for (const key of keys.filter((each) => !each.includes('!record'))) {
        await server.command('DEL', key);
      }
      await server.command('SAVE');
      await server.kill();
      await server.start();
    }),
  );

/** A store of either form; the longest TTL is as for all of its programs. */
type Open = (client: RedisClient, options: OpenOptions) => Store;
type OpenOptions = Pick<RedisOptions, 'afterDataLoss' | 'maxTtl' | 'maxWaiters'>;

/** All topics, unless these are enough. */
export function redisSuite(place: Place, topics?: SuiteOptions['topics']): void {
  suite({
    ...onPlace(place, redisStore),
    traits: redisStore(place.client).traits,
    lacks: [],
    topics,
  });
}

/** What the suite is given, except for what the store promises. */
export function onPlace(place: Place, open: Open): Omit<SuiteOptions, 'traits' | 'lacks'> {
  const { client, another, shortMs } = place;
  afterAll(() => place.close());
  const shared = ({ maxWaiters }: FixtureOptions): Fixture => ({
    connect: () => open(client, { afterDataLoss: 'trust', ...(maxWaiters && { maxWaiters }) }),
    shortMs: shortMs ?? paced(600),
  });
  return {
    create: (options) =>
      options.quarantineMs && another ? forgetful(another, open, options) : shared(options),
    forgets: another !== undefined,
    trusts: another !== undefined,
    patienceMs: HANG_MS,
  };
}

async function forgetful(
  another: NonNullable<Place['another']>,
  open: Open,
  { quarantineMs = 0, maxWaiters }: FixtureOptions,
): Promise<Fixture> {
  const { client, servers, forget = flush, close } = await another();
  // Whoever has been up for longer than any lease has nothing to lose from before. Servers tell
  // whole seconds, so it is taken for one less.
  await Promise.all(servers.map((server) => upFor(server, quarantineMs / 1000 + 1)));
  // After a restart with data, another server may have granted: the wait is three times as long.
  const setsBack = forget === restartSetBack;
  const maxTtl = setsBack ? Math.round(quarantineMs / 3) : quarantineMs;
  const given = { maxTtl, ...(maxWaiters && { maxWaiters }) };
  if (setsBack) await leaveRecord(open(client, given));
  return {
    connect: () => open(client, given),
    trusting: () => open(client, { ...given, afterDataLoss: 'trust' }),
    forget: () => forget(servers).then(() => {}),
    dispose: () => close().then(() => {}),
  };
}

/** A server without the store's record would be taken for a new one. */
async function leaveRecord(store: Store): Promise<void> {
  const claim = claimOf('before', { ttlMs: 100 });
  await store.claim([claim]);
  await store.release([claim]);
  await store.close?.();
}

/** To one server, or to a cluster. */
export type Connect<To = RedisServer> = (to: To) => Promise<RedisClient>;

/** Its server crashes. */
export const ioredis: Connect = async ({ url }) => new Redis(url).on('error', () => {});

/** One server, and a client to it that `close` ends. */
export async function single(
  connect: Connect,
  { program = 'redis', forget = flush }: { program?: ProgramName; forget?: Forget } = {},
): Promise<Place> {
  const start = async (): Promise<Forgetful> => {
    const server = await RedisServer.start({ program });
    const client = await connect(server);
    return {
      ...{ client, servers: [server], forget },
      async close() {
        await end(client);
        await server.close();
      },
    };
  };
  return { ...(await start()), another: start };
}
