import { migratePostgres } from 'holdfast/postgres';
import { Pool } from 'pg';
import { place, postgresSuite } from './suite.ts';

postgresSuite(
  await place(async ({ url }) => {
    const client = new Pool({ connectionString: url });
    await migratePostgres(client);
    return { client, end: () => client.end() };
  }),
);
