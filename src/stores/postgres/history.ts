/**
 * Finds out whether data has been lost, and records the answer.
 *
 * The row of `store` names the history of its tables in five words: the identity of the server, its
 * timeline, when it was last started from a base backup, the database, and the table. Every way to
 * copy the data changes one of them; `?` stands for a word that the server hides from this user,
 * and equals any word. A crash empties `witness`, and its row names the transaction that wrote it.
 * Data may be lost in another history; if the witness was restored; and if it is gone where the
 * server did not wait for commits, or hides the history.
 * What would break it: writing the witness without having compared the history.
 */
import type { PostgresSession } from '../../clients/postgres/connection.ts';
import { isReply, POSTGRES } from '../../clients/postgres/errors.ts';
import { anotherLayout } from '../../clients/sql/judge.ts';
import { DURABLE, NOW } from './fragments.ts';

export const LAYOUT = 1;

export interface KnownSchema {
  /** Quoted. */
  readonly schema: string;
  readonly maxTtlMs: number;
  readonly fast: boolean;
}

type HistoryReader = Pick<PostgresSession, 'query'>;

/** Each may be refused. */
const WORDS = [
  '(SELECT system_identifier::text FROM pg_control_system())',
  'left(pg_walfile_name(pg_current_wal_lsn()), 8)',
  `coalesce((SELECT extract(epoch FROM coalesce(f.change, f.modification))::text
    FROM pg_stat_file('backup_label.old', true) AS f), '-')`,
] as const;

const UNKNOWN = '?';

/** How often others may be quicker. */
const TRIES = 10;

/**
 * Records what this program has to say, and a loss of data; returns whether the server hides its
 * history. Refuses another layout.
 */
export async function settle(
  connection: HistoryReader,
  known: KnownSchema,
): Promise<{ hidden: boolean }> {
  const words = [...(await wordsOf(connection, WORDS))];
  const hidden = words[0] === UNKNOWN || words[1] === UNKNOWN;
  const { schema } = known;
  const look = `SELECT json_build_array(s.layout, s.max_ttl, s.fast, s.history, s.rev,
  (SELECT count(*) FROM ${schema}.witness),
  (SELECT count(*) FROM ${schema}.witness w WHERE w.written = w.xmin),
  (SELECT d.oid::text FROM pg_database d WHERE d.datname = current_database()),
  '${schema}.store'::regclass::oid::text) FROM ${schema}.store s`;
  for (let tries = 0; tries < TRIES; tries++) {
    const [[line] = []] = await connection.query({ text: look });
    const found = JSON.parse(String(line)) as HistoryRow;
    if (found[0] !== LAYOUT) throw anotherLayout(POSTGRES, String(found[0]), LAYOUT);
    const record = recordText(found, { ...known, words, hidden });
    if (record === undefined) break;
    const [recorded] = await connection.query({ text: record });
    if (recorded) break;
  }
  return { hidden };
}

type HistoryRow = readonly [
  layout: number,
  maxTtl: number,
  fast: boolean,
  history: string,
  rev: number,
  witnesses: number,
  intact: number,
  database: string,
  table: string,
];

/** Undefined if all is as it should be. */
function recordText(
  [, maxTtl, wasFast, history, rev, witnesses, intact, ...place]: HistoryRow,
  known: KnownSchema & { readonly words: readonly string[]; readonly hidden: boolean },
): string | undefined {
  const { schema, maxTtlMs, fast, words, hidden } = known;
  const present = [...words, ...place];
  const recorded = history.split(' ');
  const other = present.some((each, i) => {
    return each !== UNKNOWN && recorded[i] !== UNKNOWN && each !== recorded[i];
  });
  const gone = intact === 0;
  const lost = other || (gone && (wasFast || witnesses > 0 || (maxTtl > 0 && hidden)));
  const merged = present.map((each, i) => (each === UNKNOWN ? recorded[i] : each)).join(' ');
  const longer = maxTtlMs * 1000 > maxTtl;
  if (!lost && !gone && !longer && (!fast || wasFast) && merged === history) return undefined;
  const longest = `greatest(max_ttl, ${maxTtlMs * 1000})`;
  // What is recorded here must not be lost with what relies on it.
  return `WITH ${DURABLE}, s AS (
  UPDATE ${schema}.store SET rev = rev + 1, max_ttl = ${longest},
    ${lost ? `open_at = ${NOW} + ${longest},` : ''} fast = fast OR ${fast}, history = '${merged}'
  FROM durable WHERE rev = ${rev} RETURNING max_ttl, open_at, highest, fast
)
INSERT INTO ${schema}.witness AS w (written, max_ttl, open_at, highest, fast)
SELECT pg_current_xact_id()::xid, s.max_ttl, s.open_at, s.highest, s.fast FROM s
ON CONFLICT (single) DO UPDATE SET written = excluded.written, max_ttl = excluded.max_ttl,
  open_at = excluded.open_at, highest = excluded.highest, fast = excluded.fast
RETURNING 'recorded'`;
}

/** All at once, or each by itself where the server refuses to tell one. */
async function wordsOf(connection: HistoryReader, words: readonly string[]): Promise<string[]> {
  try {
    const [row = []] = await connection.query({ text: `SELECT ${words.join(', ')}` });
    return row.map(String);
  } catch (error) {
    if (!isReply(error)) throw error;
    if (words.length === 1) return [UNKNOWN];
    const found = [];
    for (const word of words) found.push(...(await wordsOf(connection, [word])));
    return found;
  }
}
