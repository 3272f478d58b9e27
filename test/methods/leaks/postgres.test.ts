import { migratePostgres, postgresStore } from 'holdfast/postgres';
import { Pool } from 'pg';
import { startPostgres } from '../../servers/postgres-server.ts';
import { leakTests } from './leaks.ts';

const LEFT = `SELECT
  (SELECT count(*) FROM holdfast.lock WHERE id IS NOT NULL OR state IS NOT NULL)::int AS claims,
  (SELECT count(*) FROM holdfast.lock)::int AS locks,
  (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holdfast')::int AS connections`;

leakTests('PostgreSQL', async () => {
  const server = await startPostgres();
  await migratePostgres(new Pool({ connectionString: server.url }));
  const open = () => postgresStore(new Pool({ connectionString: server.url }));
  const left = async () => (await server.query<Record<string, number>>(LEFT))[0] ?? {};
  // Each round is several transactions that go to the disk, each connecting three processes.
  const rounds = { rounds: 2000, connects: 200 };
  return { open, url: server.url, ...rounds, left, close: () => server.close() };
});
