/** The conformance suite on PostgreSQL, through one kind of client. */
import type { Store } from 'holdfast';
import type { PostgresClient, PostgresOptions } from 'holdfast/postgres';
import { migratePostgres, postgresStore } from 'holdfast/postgres';
import type { Fixture } from 'holdfast/testkit';
import { Client } from 'pg';
import { afterAll } from 'vitest';
import { type SuiteOptions, suite } from '../../../methods/conformance/suite.ts';
import type { Pgbouncer } from '../../../servers/pgbouncer.ts';
import { type PostgresServer, startPostgres } from '../../../servers/postgres-server.ts';
import { HANG_MS, paced } from '../../../support/this-run.ts';
import { claimOf } from '../bed.ts';

/** How to reach the database that all cases share. */
interface Way {
  readonly client: PostgresClient & { end(): Promise<unknown> };
  /** Messages do not come through it, so it is not asked who is told at once. */
  readonly pooler?: Pgbouncer;
}

/** Cases about who is told, which a message does at once and a look in time. */
const TOLD = {
  names: /^hints: |: an evicted claim is woken|: downgrading tells|: its taker hears of/,
  why: 'messages through a pooler',
};

/** On a server of its own; all topics, unless these are enough. */
export async function postgresSuite(
  connect: (server: PostgresServer) => Way | Promise<Way>,
  topics?: SuiteOptions['topics'],
): Promise<void> {
  const server = await startPostgres();
  const { client, pooler } = await connect(server);
  await migratePostgres(client);
  let cases = 0;
  afterAll(async () => {
    await client.end();
    await pooler?.close();
    await server.close();
  });
  suite({
    except: pooler ? [TOLD] : [],
    create: ({ maxWaiters, quarantineMs }) => {
      const options = maxWaiters === undefined ? {} : { maxWaiters };
      if (quarantineMs) return forgetful({ ...options, maxTtl: quarantineMs });
      return { connect: () => opened(client, options), shortMs: paced(600) };
    },
    traits: postgresStore(client).traits,
    lacks: ['raise'],
    forgets: true,
    trusts: true,
    patienceMs: HANG_MS,
    topics,
  });

  /** In tables of its own, which can be as after a crash that lost what nobody had waited for. */
  async function forgetful(given: PostgresOptions): Promise<Fixture> {
    const schema = `case_${++cases}`;
    const options: PostgresOptions = { ...given, schema, durability: 'fast' };
    await migratePostgres(new Client({ connectionString: server.url }), { schema });
    // From now on the tables say that not all commits are waited for.
    const first = postgresStore(client, options);
    await first.inspect('a');
    await first.close?.();
    const tables = ['lock', 'witness'].map((table) => `${schema}.${table}`);
    return {
      connect: () => opened(client, options),
      trusting: () => opened(client, { ...options, afterDataLoss: 'trust' }),
      forget: () => server.query(`TRUNCATE ${tables.join(', ')}`).then(() => {}),
      dispose: () => server.query(`DROP SCHEMA ${schema} CASCADE`).then(() => {}),
    };
  }
}

/** Both of its sessions are open, for many cases are about lives in which few more would fit. */
async function opened(client: PostgresClient, options: PostgresOptions): Promise<Store> {
  const store = postgresStore(client, options);
  const watching = await store.watch?.(claimOf('a'), () => {});
  await Promise.all([store.inspect('a'), watching?.[Symbol.asyncDispose]()]);
  return store;
}
