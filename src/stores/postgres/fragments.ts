/** What several statements have in common; `l` is the row of a lock. */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { CHANNEL } from '../sql/link.ts';

export type PostgresTables = Readonly<Record<'lock' | 'store' | 'witness' | 'kept', string>>;

/** The server's clock, in µs. */
export const NOW = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint';

/** The same as the statement began: one value in all of it. */
export const BEGAN = '(extract(epoch FROM statement_timestamp()) * 1000000)::bigint';

export function msUntil(time: string): string {
  return `ceil((${time} - ${NOW}) / 1000.0)`;
}

/** Wakes the claim of this tag; the message begins with the name of the claim in its process. */
export function notify(tag: string, ...words: readonly string[]): string {
  const channel = `'${CHANNEL}' || split_part(${tag}, ' ', 1)`;
  const message = `concat_ws(' ', split_part(${tag}, ' ', 2), ${words.join(', ')})`;
  return `CASE WHEN ${tag} <> '- -' THEN pg_notify(${channel}, ${message}) END`;
}

export function wordOf(line: number, nth: number): string {
  const crowd = line === 1 ? 'l.crowd' : `split_part(l.crowd, E'\\n', ${line})`;
  return `split_part(${crowd}, E'\\t', ${nth})`;
}

/** Whether as many are waiting, and the last of these is dead: only the queue can clear it away. */
export function lives(line: number): string {
  const until = `${wordOf(line, 2)}::bigint`;
  return `CASE WHEN l.waiters < ${line} THEN true ELSE ${until} > ${NOW} END`;
}

/** Commits are waited for, whatever the session does: the first table of a WITH clause. */
export const DURABLE = `durable AS MATERIALIZED (SELECT set_config('synchronous_commit',
  CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
    ELSE current_setting('synchronous_commit') END, true)
)`;

/** The statement with its values in it, for `$1` and so on. */
export function literal(text: string, values: readonly string[]): string {
  return text.replace(/\$(\d+)/g, (_, nth: string) => {
    const value = values[Number(nth) - 1] ?? '';
    // Correct however the server reads a backslash in other literals.
    return `E'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
  });
}

/** An array of texts, as the server reads one. */
export function arrayOf(values: readonly (string | number | boolean)[]): string {
  const words = values.map((value) => `"${String(value).replace(/["\\]/g, '\\$&')}"`);
  return `{${words.join(',')}}`;
}

/** @throws UsageError unless it is a name that needs no escapes. */
export function checkSchema(schema: string = 'holdfast'): string {
  if (typeof schema === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema)) return schema;
  const message = `schema must be 1 to 63 letters, digits or '_', the first one no digit`;
  throw new UsageError(`${message}, not ${show(schema)}.`);
}
