/** The conformance suite on one kind of server, through one kind of client. */
import { type RedisClient, type RedisOptions, redisStore } from 'holdfast/redis';
import { conformance, type Fixture, type FixtureOptions } from 'holdfast/testkit';
import { afterAll, test } from 'vitest';
import type { ProgramName } from '../../servers/programs.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { settle } from '../settle.ts';

/** Something that can be connected to, shared by all cases. */
export interface Place {
  readonly client: RedisClient;
  close(): Promise<unknown>;
  /** Another place of the same kind, for a case that makes it lose its memory. */
  another?(): Promise<Place & { forget(): Promise<unknown>; settled(): Promise<void> }>;
}

export function suite(place: Place, given: RedisOptions = {}): void {
  const { client, another } = place;
  afterAll(() => place.close());
  conformance({
    test: test.concurrent,
    skip: (name, reason) => test(name, (context) => context.skip(reason)),
    create: (options) =>
      options.quarantineMs && another ? forgetful(another, options) : shared(options),
    traits: redisStore(client, given).traits,
    lacks: ['follow'],
    forgets: another !== undefined,
  });

  function shared({ maxWaiters }: FixtureOptions): Fixture {
    const options = maxWaiters ? { maxWaiters } : {};
    return { connect: () => redisStore(client, { afterDataLoss: 'trust', ...given, ...options }) };
  }
}

async function forgetful(
  another: NonNullable<Place['another']>,
  { quarantineMs = 0, maxWaiters }: FixtureOptions,
): Promise<Fixture> {
  const { client, forget, settled, close } = await another();
  const options = { maxTtl: quarantineMs, ...(maxWaiters && { maxWaiters }) };
  // It has just been started, so that it may have lost something; but it has not.
  const first = redisStore(client, options);
  await first.inspect('a');
  await first.close?.();
  await settled();
  return {
    connect: () => redisStore(client, options),
    forget: () => forget().then(() => {}),
    dispose: () => close().then(() => {}),
  };
}

/** One server, and a client to it that `close` ends. */
export async function single(
  connect: (server: RedisServer) => Promise<{ client: RedisClient; end(): unknown }>,
  program: ProgramName = 'redis',
): Promise<Place> {
  const start = async () => {
    const server = await RedisServer.start({ program });
    const { client, end } = await connect(server);
    return {
      client,
      async close() {
        await end();
        await server.close();
      },
      forget: () => server.command('FLUSHALL'),
      settled: () => settle(server),
    };
  };
  return { ...(await start()), another: start };
}
