import { migratePostgres } from 'holdfast/postgres';
import postgres from 'postgres';
import { startPgbouncer } from '../../../servers/pgbouncer.ts';
import { place, suite } from './suite.ts';

suite(
  await place(async (server) => {
    const pooler = await startPgbouncer(server, { mode: 'transaction' });
    const client = postgres(pooler.url);
    await migratePostgres(client);
    return { client, deaf: true, end: () => client.end().then(() => pooler.close()) };
  }),
);
