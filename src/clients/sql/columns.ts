/**
 * Whether two programs read the columns of a table in the same way.
 *
 * The table was made by others, or by hand. A database silently accepts much that lets two programs
 * hold one lock: it compares a `timestamptz` in the zone of each session, rounds to whole seconds,
 * cuts texts short, equates names. Where no index keeps names apart, two first claims insert a row
 * each; an engine of MySQL without transactions locks no row. So the store checks the table before
 * it relies on it, and refuses what is harmful, with the statement that mends it. It does not judge
 * columns that it cannot see (a view, no rights). A `TIMESTAMP` of MySQL gets UTC as if it were the
 * session's own time, which is one moment for all sessions in one zone without summer time: so the
 * session that looks must be in such a zone, and later statements fail in those of another offset.
 * What breaks it: the other program's sessions, if their zone has another offset, or a session with
 * the same offset and summer time; a table that is changed afterwards.
 */
import { UsageError } from '../../base/errors.ts';
import type { SqlConnection } from './connection.ts';
import { type Dialect, inDialect, partsOf, type Row } from './sql.ts';

export interface ColumnNeed {
  readonly column: string;
  /**
   * `moment`: in UTC, to the ms. `shown`: a moment that is compared with nothing. `text`: different
   * texts differ. `bytes`: so they do on MySQL, too, also by a blank. `sorted`: in the order of
   * their bytes.
   */
  readonly kind: 'moment' | 'shown' | 'text' | 'bytes' | 'sorted' | 'bigint';
  /** In characters, or bytes; what is longer is never written. */
  readonly room?: number;
  /** No two rows may be the same in all columns with this. */
  readonly key?: true;
}

/** Whether it is so, what it does, and the type that mends it. */
type ColumnFault = readonly [is: boolean, why: string, type: string];

interface Rules {
  readonly look: string;
  /** Reads the columns of each unique index. */
  readonly unique: string;
  /** What stands for each ? of both, in turn. */
  placeOf(table: string): readonly (string | null)[];
  /** The first that is so counts. */
  faultsIn(row: Row, need: ColumnNeed): readonly ColumnFault[];
  mend(row: Row, type: string): string;
}

const LEAST_PRECISION = 3;
const FACTS = `c.column_name AS "name", c.data_type AS "type", c.datetime_precision AS "precision",
  c.character_maximum_length AS "room"`;

const SORTED = /^(C|POSIX|ucs_basic|pg_c_utf8)$/;

const postgres: Rules = {
  look: `SELECT ${FACTS}, coalesce(c.collation_name, d.datcollate) AS "collation",
  (SELECT count(*) FROM pg_catalog.pg_collation o WHERE o.collname = c.collation_name
    AND to_jsonb(o) ->> 'collisdeterministic' = 'false') AS "equating"
FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
JOIN information_schema.columns c ON c.table_schema = n.nspname AND c.table_name = t.relname
JOIN pg_catalog.pg_database d ON d.datname = current_database()
WHERE t.oid = to_regclass(CAST(? AS text)) AND t.relkind IN ('r', 'p')`,
  unique: `SELECT i.indexrelid AS "index",
  pg_catalog.pg_get_indexdef(i.indexrelid, n, true) AS "name"
FROM pg_catalog.pg_index i, pg_catalog.generate_series(1, i.indnkeyatts) n
WHERE i.indrelid = to_regclass(CAST(? AS text)) AND i.indisunique AND i.indisvalid
AND i.indimmediate AND i.indpred IS NULL`,
  placeOf: (table) => [table],
  faultsIn(row, { kind, room = 0 }) {
    const [isMoment, isText] = [kind === 'moment', kind === 'text' || kind === 'bytes'];
    const zoned = isMoment && row.type === 'timestamp with time zone';
    const utc = `timestamp(6) USING "${row.name}" AT TIME ZONE 'utc'`;
    const unsorted = kind === 'sorted' && !SORTED.test(String(row.collation));
    const bytewise = 'text COLLATE "C"';
    return [
      [zoned, 'is compared in the time zone of each session', utc],
      [isMoment && isRough(row), 'has no fractions of a second', 'timestamp(6)'],
      [unsorted, 'is not sorted by its bytes', bytewise],
      [isText && Number(row.equating) > 0, 'equates different texts', bytewise],
      [isText && isShort(row, room), 'is too short', bytewise],
      [kind === 'bigint' && !isWhole(row), 'does not keep all numbers', 'bigint'],
    ];
  },
  mend: ({ name }, type) => `ALTER COLUMN "${name}" TYPE ${type}`,
};

/** How many looks at the session's zone, two weeks apart: no summer time is shorter. */
const LOOKS = Array.from({ length: 27 }, (_, n) => `UNIX_TIMESTAMP() + ${n * 14 * 86_400}`);
const OFFSETS = LOOKS.map((at) => {
  const utc = `TIMESTAMPADD(SECOND, ${at}, '1970-01-01')`;
  return `TIMESTAMPDIFF(SECOND, ${utc}, FROM_UNIXTIME(${at}))`;
}).join(', ');
const PLACE = 'table_schema = coalesce(?, DATABASE()) AND table_name = ?';
/** That has no transactions. */
const ENGINE = `SELECT max(t.engine) FROM information_schema.tables t
  JOIN information_schema.engines e ON e.engine = t.engine AND e.transactions <> 'YES'
  WHERE ${PLACE}`;

const BINARY = /^varbinary$|blob$/;

const mysql: Rules = {
  look: `SELECT ${FACTS}, c.is_nullable AS "nullable",
  CONCAT_WS(' ', ${OFFSETS}) AS "offsets", (${ENGINE}) AS "engine"
FROM information_schema.columns c WHERE ${PLACE}
AND 'BASE TABLE' = (SELECT max(table_type) FROM information_schema.tables WHERE ${PLACE})`,
  unique: `SELECT index_name AS "index", column_name AS "name"
FROM information_schema.statistics WHERE ${PLACE} AND non_unique = 0`,
  placeOf: partsOf,
  faultsIn(row, { kind, room = 0 }) {
    const isMoment = kind === 'moment' || kind === 'shown';
    const summer = row.type === 'timestamp' && new Set(String(row.offsets).split(' ')).size > 1;
    const isBytes = kind === 'bytes' || kind === 'sorted';
    const binary = room > 65_535 ? 'mediumblob' : `varbinary(${room})`;
    const short = isShort(row, room);
    return [
      [
        isMoment && summer,
        'depends on the time zone of each session, which has summer time',
        'datetime(6)',
      ],
      [kind === 'moment' && isRough(row), 'has no fractions of a second', 'datetime(6)'],
      [kind === 'text' && short, 'is too short', `varchar(${room})`],
      [isBytes && !BINARY.test(String(row.type)), 'equates different texts', binary],
      [isBytes && short, 'is too short', binary],
      [kind === 'bigint' && !isWhole(row), 'does not keep all numbers', 'bigint'],
    ];
  },
  mend: ({ name, nullable }, type) =>
    `MODIFY "${name}" ${type}${nullable === 'NO' ? ' NOT NULL' : ''}`,
};

const RULES: Readonly<Record<Dialect, Rules>> = { postgres, mysql };

function isRough({ precision }: Row): boolean {
  return Number(precision) < LEAST_PRECISION;
}

function isShort({ room }: Row, least: number): boolean {
  return room !== null && Number(room) < least;
}

function isWhole({ type }: Row): boolean {
  return type === 'bigint' || type === 'numeric' || type === 'decimal';
}

/**
 * Looks at the table. Returns the offset of the session's zone from UTC, in seconds, if a moment in
 * the table depends on it.
 * @param table as it stands in statements.
 * @throws UsageError, with the statement that mends it, or if there is no such table.
 */
export async function checkColumns(
  connection: SqlConnection,
  table: string,
  needs: readonly ColumnNeed[],
): Promise<number | undefined> {
  const { look, unique, placeOf, faultsIn, mend } = RULES[connection.dialect];
  const place = placeOf(table);
  const ask = (sql: string): Promise<Row[]> => {
    const marks = sql.split('?').length - 1;
    return connection.rows(
      sql,
      Array.from({ length: marks }, (_, n) => place[n % place.length]),
    );
  };
  const rows = await ask(look);
  // A view ends here as well; a table that is not there yet must not count as checked.
  if (rows.length === 0) await connection.rows(`SELECT 1 FROM ${table} WHERE 1 = 0`);
  const rowOf = ({ column }: ColumnNeed): Row | undefined =>
    rows.find((row) => nameIn(row) === column.toLowerCase());
  const faults = needs.flatMap((need) => {
    const row = rowOf(need);
    const fault = row && faultsIn(row, need).find(([is]) => is);
    if (!fault) return [];
    const [, why, type] = fault;
    return [{ says: `${need.column} ${why}`, mends: mend(row, type) }];
  });
  const [{ engine } = {}] = rows;
  if (typeof engine === 'string') {
    faults.push({ says: `its engine, ${engine}, has no transactions`, mends: 'ENGINE = InnoDB' });
  }
  const key = needs.filter((need) => need.key).map(rowOf);
  const seen = key.length > 0 && !key.includes(undefined);
  const names = key.map((row) => String(row?.name));
  if (seen && !keepsApart(await ask(unique), names)) {
    const mends = `ADD UNIQUE (${names.map((name) => `"${name}"`).join(', ')})`;
    faults.push({ says: `two rows may have the same ${names.join(', ')}`, mends });
  }
  if (faults.length === 0) {
    const moments = needs.filter(({ kind }) => kind === 'moment').map(rowOf);
    const zoned = moments.find((row) => row?.type === 'timestamp');
    return zoned && Number.parseInt(String(zoned.offsets), 10);
  }
  const says = faults.map((fault) => fault.says).join(', ');
  const mends = faults.map((fault) => fault.mends).join(', ');
  throw new UsageError(
    `The table ${table} keeps no locks: ${says}. Stop the programs that use it, and run once:\n` +
      inDialect(connection.dialect, `ALTER TABLE ${table} ${mends}`),
  );
}

/** Whether an index has none but these columns: with others in it, equal keys may come twice. */
function keepsApart(parts: readonly Row[], names: readonly string[]): boolean {
  const key = names.map((name) => name.toLowerCase());
  const wider = new Set(parts.filter((part) => !key.includes(nameIn(part))).map(indexIn));
  return parts.some((part) => !wider.has(indexIn(part)));
}

function nameIn({ name }: Row): string {
  return String(name).replaceAll('"', '').toLowerCase();
}

function indexIn({ index }: Row): string {
  return String(index);
}
