/** The conformance suite on MySQL or MariaDB, through one kind of client. */
import assert from 'node:assert/strict';
import { type MysqlClient, type MysqlOptions, migrateMysql, mysqlStore } from 'holdfast/mysql';
import type { Fixture } from 'holdfast/testkit';
import { afterAll } from 'vitest';
import { type SuiteOptions, suite } from '../../../methods/conformance/suite.ts';
import type { MysqlServer } from '../../../servers/mysql-server.ts';
import { HANG_MS, paced } from '../../../support/this-run.ts';

/** More than there are cases in which data is lost. */
const PREFIXES = 16;

/** All topics, unless these are enough; the client and the server end with the file. */
export async function mysqlSuite(
  server: MysqlServer,
  client: MysqlClient & { end(): unknown },
  topics?: SuiteOptions['topics'],
): Promise<void> {
  await migrateMysql(client);
  // Not while cases run, which would wait.
  const prefixes = Array.from({ length: PREFIXES }, (_, n) => `case_${n}_`);
  for (const prefix of prefixes) await migrateMysql(client, { prefix });
  afterAll(async () => {
    await client.end();
    await server.close();
  });
  suite({
    create: ({ maxWaiters, quarantineMs }) => {
      const options = maxWaiters === undefined ? {} : { maxWaiters };
      if (quarantineMs) return forgetful({ ...options, maxTtl: quarantineMs });
      return { connect: () => mysqlStore(client, options), shortMs: paced(600) };
    },
    traits: mysqlStore(client).traits,
    lacks: ['raise'],
    forgets: true,
    trusts: true,
    patienceMs: HANG_MS,
    topics,
  });

  /** In tables of its own, which can be as on a replica that was promoted before it had it all. */
  async function forgetful(given: MysqlOptions): Promise<Fixture> {
    const prefix = prefixes.pop() ?? assert.fail('there are tables of its own for each case');
    const options: MysqlOptions = { ...given, prefix };
    const first = mysqlStore(client, options);
    await first.inspect('a');
    await first.close?.();
    return {
      connect: () => mysqlStore(client, options),
      trusting: () => mysqlStore(client, { ...options, afterDataLoss: 'trust' }),
      forget: async () => {
        const another = `UPDATE ${prefix}store SET history = 'another server'`;
        await server.query(`${another}; TRUNCATE TABLE ${prefix}lock`);
      },
    };
  }
}
