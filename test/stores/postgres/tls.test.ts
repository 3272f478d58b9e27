/** The connections of a store are as private as those of its client. */
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresClient, postgresStore } from 'holdfast/postgres';
import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { expect, test } from 'vitest';
import { certificates } from '../../servers/tls.ts';
import { until } from '../../support/until.ts';
import { claimOf, failureOf, sharedServer } from './bed.ts';

const { bed, server } = await sharedServer({
  hba: ['hostssl all private 127.0.0.1/32 trust', 'host all private all reject'],
});
const files = await certificates();
const ca = files['ca.crt'] ?? '';
const { uid, gid } = statSync(server.folder);
for (const [name, setting] of [
  ['server.crt', 'ssl_cert_file'],
  ['server.key', 'ssl_key_file'],
] as const) {
  const file = join(server.folder, name);
  writeFileSync(file, files[name] ?? '', { mode: 0o600 });
  chownSync(file, uid, gid);
  await server.query(`ALTER SYSTEM SET ${setting} = '${file}'`);
}
await server.query('ALTER SYSTEM SET ssl = on');
await server.query('SELECT pg_reload_conf()');
await until('spoke TLS', async () => (await server.query('SHOW ssl'))[0]?.ssl === 'on');
await server.query('CREATE ROLE private LOGIN SUPERUSER');

type Ssl = false | { readonly ca: string } | { readonly ca?: undefined };

const clients: readonly (readonly [string, (ssl: Ssl) => PostgresClient])[] = [
  ['a Pool', (ssl) => new Pool({ ...where(), ssl })],
  ['a Client', (ssl) => new Client({ ...where(), ssl })],
  ['postgres.js', (ssl) => postgres({ ...where(), ssl })],
];

function where() {
  return { host: server.host, port: server.port, user: 'private', database: 'postgres' };
}

test.each(clients)('%s', async (_, make) => {
  const store = bed.use(postgresStore(make({ ca })));
  const watching = await store.watch?.(claimOf('a'), () => {});
  await store.inspect('a');
  const rows = await server.query(
    "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'private'",
  );
  expect(rows).toEqual([{ ssl: true }, { ssl: true }]);
  await watching?.[Symbol.asyncDispose]();
  await store.close?.();
  await until('ended', async () => {
    const left = await server.query("SELECT FROM pg_stat_activity WHERE usename = 'private'");
    return left.length === 0;
  });
  const refusalOf = (ssl: Ssl): Promise<unknown> =>
    failureOf(bed.use(postgresStore(make(ssl))).inspect('a'));
  const refused = { code: 'STORE', retryable: false, outcome: 'failed' };
  // Nobody else knows the authority of this certificate.
  expect(await refusalOf({})).toMatchObject({ ...refused, message: expect.stringMatching(/TLS/) });
  expect(await refusalOf(false)).toMatchObject({
    ...{ ...refused, message: expect.stringMatching(/does not let this user in/) },
  });
});
