/**
 * Makes the tables of the locks, or brings them up to date.
 *
 * All of it is one transaction under a lock of its own, so programs of a deployment may do it at
 * the same time, and none sees half of it. Tables that a newer version made stay as they are, and
 * so do others' tables of the same names: many programs have a `lock` or a `store`.
 */
import { checkOptions } from '../../base/options.ts';
import { connectLike, type PostgresClient } from '../../clients/postgres/client.ts';
import { judge } from '../../clients/postgres/errors.ts';
import { checkSchema } from './fragments.ts';
import { LAYOUT } from './history.ts';
import tables from './schema.sql';

export interface PostgresMigrationOptions {
  /** Default `holdfast`. */
  readonly schema?: string;
}

/** Any number that no other program uses: these are the letters of the name. */
const ADVISORY_LOCK = BigInt(`0x${Buffer.from('holdfast').toString('hex')}`);

const CONNECT_MS = 5000;

/** The tables, each with a column that no other table of that name is likely to have. */
const OURS =
  "('store', 'open_at'), ('witness', 'written'), ('lock', 'before_tail'), ('kept', 'until')";

/** Users of the tables wait behind a migration that waits for one of them. */
const LOCK_MS = 2000;

/**
 * The SQL that `migratePostgres` runs, for tools that keep migrations.
 *
 * @example
 * import { postgresMigration } from 'holdfast/postgres';
 *
 * console.log(postgresMigration({ schema: 'locks' }));
 *
 * @throws UsageError for a malformed schema name.
 */
export function postgresMigration(options: PostgresMigrationOptions = {}): string {
  const { schema } = checkOptions(options, { schema: checkSchema }, 'postgresMigration');
  const name = `"${schema}"`;
  return `BEGIN;
SELECT pg_advisory_xact_lock(${ADVISORY_LOCK});
SET LOCAL lock_timeout = '${LOCK_MS}ms';
DO $$
DECLARE
  others text;
BEGIN
  SELECT string_agg('${name}.' || made.name, ', ') INTO others
  FROM (VALUES ${OURS}) made (name, has)
  WHERE to_regclass('${name}.' || made.name) IS NOT NULL AND NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = to_regclass('${name}.' || made.name) AND attname = has
  );
  IF others IS NOT NULL THEN
    RAISE EXCEPTION 'there are other tables with the names of Holdfast''s: %. Give Holdfast another'
      ' schema', others;
  END IF;
  IF to_regclass('${name}.store') IS NOT NULL THEN
    IF (SELECT max(layout) FROM ${name}.store) > ${LAYOUT} THEN
      RAISE EXCEPTION 'a newer version of Holdfast has made these tables';
    END IF;
  END IF;
END $$;
${tables.replaceAll(/\bholdfast\b/g, name)}
COMMIT;
`;
}

/**
 * Makes the tables that `postgresStore` needs in the database of this client, or
 * brings them up to date. Doing it again does no harm. Its user must be allowed to create a schema,
 * and owns what it makes.
 *
 * @example
 * import { migratePostgres } from 'holdfast/postgres';
 *
 * await migratePostgres(pool); // once, where the other tables are made, too
 *
 * @throws UsageError for anything but a client, StoreError if the database refuses.
 */
export async function migratePostgres(
  client: PostgresClient,
  options: PostgresMigrationOptions = {},
): Promise<void> {
  await runAlone(client, postgresMigration(options));
}

/** Over a connection of its own. @throws what `migratePostgres` throws. */
export async function runAlone(client: PostgresClient, text: string): Promise<void> {
  const connect = connectLike(client);
  try {
    const signal = AbortSignal.timeout(CONNECT_MS);
    const connection = await connect({ signal, lost: () => {}, received: () => {} });
    await connection.query({ text }).finally(() => connection.end());
  } catch (error) {
    throw judge(error, 'open').error;
  }
}
