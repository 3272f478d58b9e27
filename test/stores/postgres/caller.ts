/** Programs that ask a store, and the sweep of one. */
import { postgresStore } from 'holdfast/postgres';
import { Pool } from 'pg';
import { systemClock } from '../../../src/base/clock.ts';
import { connectLike } from '../../../src/clients/postgres/client.ts';
import { Warnings } from '../../../src/clients/warnings.ts';
import { arrayOf } from '../../../src/stores/postgres/fragments.ts';
import { sourceOf } from '../../../src/stores/postgres/source.ts';
import { linkOf } from '../../../src/stores/sql/link.ts';
import { Sweeper } from '../../../src/stores/sql/sweeper.ts';
import { Table } from '../../../src/stores/sql/table.ts';
import { Caller } from '../../methods/faults/sql-calls.ts';
import type { PostgresServer } from '../../servers/postgres-server.ts';

export { asked, type Caller, numberOf } from '../../methods/faults/sql-calls.ts';

export function callerOf({ url }: PostgresServer): Caller {
  return new Caller(({ maxTtl }) => postgresStore(new Pool({ connectionString: url }), { maxTtl }));
}

/** One round, as programs make it now and then. */
export async function sweep({ url }: PostgresServer, idleMs?: number): Promise<void> {
  const known = { maxTtlMs: 30_000, fast: false };
  const opening = { ...known, schema: 'holdfast', warnings: new Warnings() };
  const link = linkOf(sourceOf(connectLike(new Pool({ connectionString: url })), opening));
  const table = new Table({ ...known, link, listOf: arrayOf });
  await new Sweeper(systemClock(), table).sweep(idleMs);
  await link.close();
}
