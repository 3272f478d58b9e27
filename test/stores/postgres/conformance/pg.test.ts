import { migratePostgres } from 'holdfast/postgres';
import { Pool } from 'pg';
import { place, suite } from './suite.ts';

suite(
  await place(async ({ url }) => {
    const client = new Pool({ connectionString: url });
    await migratePostgres(client);
    return { client, end: () => client.end() };
  }),
);
