import { migratePostgres } from 'holdfast/postgres';
import postgres from 'postgres';
import { OF_CLIENT_UNLESS_WHOLE } from '../../../methods/conformance/of-client.ts';
import { startPgbouncer } from '../../../servers/pgbouncer.ts';
import { place, postgresSuite } from './suite.ts';

postgresSuite(
  await place(async (server) => {
    const pooler = await startPgbouncer(server, { mode: 'transaction' });
    const client = postgres(pooler.url);
    await migratePostgres(client);
    return { client, deaf: true, end: () => client.end().then(() => pooler.close()) };
  }),
  OF_CLIENT_UNLESS_WHOLE,
);
