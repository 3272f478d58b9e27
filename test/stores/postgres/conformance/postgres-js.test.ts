import { migratePostgres } from 'holdfast/postgres';
import postgres from 'postgres';
import { OF_CLIENT } from '../../../methods/conformance/of-client.ts';
import { place, postgresSuite } from './suite.ts';

postgresSuite(
  await place(async ({ url }) => {
    const client = postgres(url);
    await migratePostgres(client);
    return { client, end: () => client.end() };
  }),
  OF_CLIENT,
);
