/** Locks between machines, in PostgreSQL. */
import { systemClock } from '../../base/clock.ts';
import { checkOptions, oneOf } from '../../base/options.ts';
import { connectLike, type PostgresClient } from '../../clients/postgres/client.ts';
import { Warnings } from '../../clients/warnings.ts';
import type { Store } from '../../contract/store.ts';
import { linkOf } from '../sql/link.ts';
import { SQL, type SqlOptions, settingsOf } from '../sql/options.ts';
import { SqlRowStore } from '../sql/row-store.ts';
import { Table } from '../sql/table.ts';
import { arrayOf, checkSchema } from './fragments.ts';
import { sourceOf } from './source.ts';

export type { PostgresClient } from '../../clients/postgres/client.ts';
export {
  migratePostgres,
  type PostgresMigrationOptions as MigrationOptions,
  postgresMigration,
} from './migration.ts';

export interface PostgresOptions extends SqlOptions {
  /** The schema of the tables, as `holdfast migrate` made it; default `holdfast`. */
  readonly schema?: string;
  /**
   * Default `strict`: the store grants a lock once it is on disk. `fast` does not wait for that; a
   * crash of the server may then lose the last ones, after which nothing is granted for `maxTtl`.
   */
  readonly durability?: 'strict' | 'fast';
}

const CHECKS = { ...SQL, schema: checkSchema, durability: oneOf('strict', 'fast') };

/**
 * A store on the database of this client, an object of the package `pg` or `postgres` or an ORM
 * with a pool, where `holdfast migrate` has run. It opens two connections of its own with the same
 * settings, one for claims and one for heartbeats and messages; closing the locks closes those,
 * never the client.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { postgresStore } from 'holdfast/postgres';
 * import { Pool } from 'pg';
 *
 * const locks = createLocks(postgresStore(new Pool({ database: 'shop' })));
 *
 * @throws UsageError for anything but such a client, or for bad options.
 */
export function postgresStore(client: PostgresClient, options: PostgresOptions = {}): Store {
  const { schema, durability, ...given } = checkOptions(options, CHECKS, 'postgresStore');
  const fast = durability === 'fast';
  const settings = settingsOf(given);
  const { maxTtlMs } = settings;
  const opening = { schema: `"${schema}"`, fast, maxTtlMs, warnings: new Warnings() };
  const source = sourceOf(connectLike(client), opening);
  const link = linkOf({ ...source, place: client, question: 'Is it a PostgreSQL server?' });
  return new SqlRowStore({
    ...settings,
    name: 'postgres',
    lineage: `postgres:${schema}`,
    table: new Table({ link, maxTtlMs, fast, listOf: arrayOf }),
    clock: systemClock(),
  });
}
