/**
 * The steps that a statement makes by itself: taking a row or lining up in it, renewing the hold,
 * and ending it.
 *
 * Invariant: a statement decides by the one row of each lock, and raises its `rev`. Its condition
 * and its new values are evaluated on the newest version of the row, even if it had to wait for it.
 * A statement about several locks takes the rows that are free, and waits only for names that are
 * being made.
 * What would break it: a condition on another row of the lock, which is as old as the statement.
 */
import { BEGAN, lives, msUntil, NOW, notify, type PostgresTables, wordOf } from './fragments.ts';

/** The number of the first claim of a lock: greater than those before it. */
const DRAWN = 'greatest(l.last + 1, excluded.number)';

/** When a claim that begins now ends. */
const END = `${NOW} + excluded.ttl::bigint * 1000`;

const SAME = ['ttl', 'kind', 'permits', 'capacity', 'tag', 'holder'];

/** The columns of a claim that holds, and what they become where it takes the row. */
const HELD: readonly (readonly [name: string, value: string])[] = [
  ['number', DRAWN],
  ['until', END],
  ...SAME.map((name) => [name, `excluded.${name}`] as const),
];

/** The claims of a lock are numbered from 1, in their order. */
const TERMS = Object.entries({
  name: 'text',
  id: 'text',
  kind: 'text',
  permits: 'integer',
  capacity: 'integer',
  ttl: 'integer',
  holder: 'text',
  tag: 'text',
  queue: 'boolean',
  n: 'integer',
});
const ASKED = `unnest(${TERMS.map(([, type], n) => `$${n + 1}::${type}[]`).join(', ')})
  AS a (${TERMS.map(([name]) => name).join(', ')})`;

/**
 * Where one holds the whole limit and the first waiter lives, others of its kind line up.
 * `excluded.waiters` are the claims that come with the first one.
 */
const JOINS = `l.until > ${NOW} AND ${lives(1)} AND coalesce(l.tail, l.until) > ${NOW}
  AND l.permits >= l.capacity AND l.kind = excluded.kind
  AND l.permits = excluded.permits AND l.capacity = excluded.capacity
  AND l.waiters + excluded.waiters < $14::integer
  AND NOT EXISTS (SELECT FROM asked a WHERE a.name = excluded.name
    AND (NOT a.queue OR a.id = l.id OR strpos(l.crowd, a.id) > 0))`;

/** The tag, without its address, and the number of the claim right before these. */
const BEFORE = `(
    SELECT CASE WHEN l.waiters <= z.n THEN concat_ws(' ', split_part(l.tag, ' ', 2), l.number)
      ELSE (SELECT concat_ws(' ', split_part(split_part(line, E'\\t', 5), ' ', 2),
        split_part(line, E'\\t', 1))
      FROM (SELECT split_part(l.crowd, E'\\n', l.waiters - z.n) AS line OFFSET 0) AS b) END
    FROM last z WHERE z.name = l.name
  )`;

/** The claims that are to wait, as row.ts reads them. */
function linesOf(name: string, first: string, which: string): string {
  const number = `${first} + a.n - 1`;
  const words = [number, `${NOW} + a.ttl::bigint * 1000`, 'a.id', 'a.ttl', 'a.tag', '$11::text'];
  const line = `concat_ws(E'\\t', ${words.join(', ')}, a.holder) || E'\\n'`;
  return `coalesce((SELECT string_agg(${line}, '' ORDER BY a.n)
    FROM asked a WHERE a.name = ${name} AND ${which}), '')`;
}

/** Nothing was lost, and what this program says of its claims is recorded: from the nth value. */
function intact(nth: number, now = 't.now'): string {
  return `w.written = w.xmin AND w.open_at <= ${now} AND w.max_ttl >= $${nth}::bigint
  AND w.fast >= $${nth + 1}::boolean`;
}

/**
 * Of one claim, where none holds: as little as there can be, because the server prepares all
 * parts of a statement each time, also those that it does not come to. Returns its number.
 */
export function takeFree({ lock, witness }: PostgresTables): string {
  const columns = HELD.map(([name]) => name);
  return `
INSERT INTO ${lock} AS l (name, rev, last, id, ${columns.join(', ')})
SELECT $1::text, t.now, greatest(t.now, w.highest + 1), $2::text, greatest(t.now, w.highest + 1),
  t.now + $6::bigint * 1000, $6::integer, $3::text, $4::integer, $5::integer, $8::text, $7::text
FROM ${witness} w, (SELECT ${NOW} AS now OFFSET 0) AS t
WHERE ${intact(9)}
ON CONFLICT (name) DO UPDATE SET rev = l.rev + 1, last = ${DRAWN}, id = excluded.id,
  ${HELD.map(([name, value]) => `${name} = ${value}`).join(', ')}, ended = NULL, ended_by = NULL
WHERE l.state IS NULL AND l.id IS NULL
RETURNING l.last`;
}

/** The same, with the same values, where the row is there. What it draws is what it compares. */
export function takeAgain({ lock, witness }: PostgresTables): string {
  const drawn = `greatest(l.last + 1, ${BEGAN})`;
  return `
UPDATE ${lock} l SET rev = l.rev + 1, last = ${drawn}, number = ${drawn}, id = $2::text,
  until = ${NOW} + $6::bigint * 1000, ttl = $6::integer, kind = $3::text, permits = $4::integer,
  capacity = $5::integer, tag = $8::text, holder = $7::text, ended = NULL, ended_by = NULL
WHERE l.name = $1::text AND l.id IS NULL AND l.state IS NULL
  AND (SELECT w.highest FROM ${witness} w WHERE ${intact(9, BEGAN)}) < ${drawn}
RETURNING l.last`;
}

/** Ends one claim that none waits behind. */
export function leaveFree({ lock }: PostgresTables): string {
  return `
UPDATE ${lock} l SET rev = l.rev + 1, id = NULL, until = ${NOW}
WHERE l.name = $1::text AND l.id = $2::text AND l.waiters = 0 AND l.state IS NULL
  AND l.until > ${NOW}
RETURNING $2::text`;
}

/** Takes claims on several locks; skips rows that are locked. */
export function takeAll(tables: PostgresTables): string {
  const more = `, free AS MATERIALIZED (
  SELECT l.name FROM ${tables.lock} l WHERE l.name = ANY ($1::text[])
  ORDER BY l.name FOR UPDATE SKIP LOCKED
), fit AS MATERIALIZED (
  SELECT * FROM asked a WHERE a.name IN (SELECT name FROM free)
    OR NOT EXISTS (SELECT FROM ${tables.lock} l WHERE l.name = a.name)
  ORDER BY a.name COLLATE "C"
)`;
  return take(tables, 'fit', more);
}

/**
 * The first claim takes the row, if it is free, and the others line up behind it. `from` has the
 * rows that may be taken: by default those of one lock, whose row it waits for.
 */
export function take({ lock, witness }: PostgresTables, from = 'asked', more = ''): string {
  const held = HELD.map(
    ([name, value]) => `${name} = CASE WHEN l.id IS NULL THEN ${value} ELSE l.${name} END`,
  );
  const words = [`'h'`, 'l.number', msUntil('l.until'), 'l.waiters', `'-'`];
  const ended = [`coalesce(l.ended, '-')`, 'coalesce(l.ended_by, 0)'];
  const base = 'greatest(t.now, w.highest + 1)';
  const lines = linesOf('excluded.name', DRAWN, '(l.id IS NOT NULL OR a.n > 1)');
  return `
WITH asked AS MATERIALIZED (SELECT * FROM ${ASKED}), last AS MATERIALIZED (
  SELECT DISTINCT ON (a.name) a.name, a.n, a.ttl FROM asked a ORDER BY a.name, a.n DESC
)${more}
INSERT INTO ${lock} AS l (name, rev, last, id, ${HELD.map(([name]) => name).join(', ')},
  waiters, tail, crowd)
SELECT a.name, t.now, ${base} + z.n - 1, a.id, ${base},
  t.now + a.ttl::bigint * 1000, a.ttl, a.kind, a.permits, a.capacity, a.tag, a.holder,
  z.n - 1, CASE WHEN z.n > 1 THEN t.now + z.ttl::bigint * 1000 END,
  ${linesOf('z.name', base, 'a.n > 1')}
FROM ${from} a JOIN last z ON z.name = a.name, ${witness} w, (SELECT ${NOW} AS now OFFSET 0) AS t
WHERE a.n = 1 AND ${intact(12)}
ON CONFLICT (name) DO UPDATE SET rev = l.rev + 1, last = ${DRAWN} + excluded.waiters,
  id = coalesce(l.id, excluded.id), ${held.join(', ')},
  ended = CASE WHEN l.id IS NOT NULL THEN l.ended END,
  ended_by = CASE WHEN l.id IS NOT NULL THEN l.ended_by END,
  waiters = excluded.waiters + CASE WHEN l.id IS NULL THEN 0 ELSE l.waiters + 1 END,
  before_tail = coalesce(l.tail, l.until),
  tail = CASE WHEN l.id IS NOT NULL THEN coalesce(excluded.tail, ${END}) ELSE excluded.tail END,
  crowd = l.crowd || ${lines}
WHERE l.state IS NULL AND (l.id IS NULL OR ${JOINS})
RETURNING
  concat_ws(' ', l.id, l.last, l.waiters, coalesce(l.before_tail, 0) - ${NOW}, ${BEFORE}, l.name),
  CASE WHEN l.waiters > 0 AND (SELECT l.waiters IN (z.n - 1, z.n) FROM last z WHERE z.name = l.name)
    THEN ${notify('l.tag', ...words, ...ended)} END`;
}

/** Renews claims on different locks. */
export function beat({ lock }: PostgresTables): string {
  return `
WITH asked AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::integer[]) AS a (name, id, ttl)
), ${freeOf(lock)}
UPDATE ${lock} l SET rev = l.rev + 1, until = ${NOW} + a.ttl::bigint * 1000
FROM asked a WHERE l.name = a.name AND l.id = a.id AND l.state IS NULL AND l.until > ${NOW}
  AND ${lives(1)} AND a.name IN (SELECT name FROM free)
RETURNING
  concat_ws(' ', l.id, l.number, l.waiters, coalesce(l.ended, '-'), coalesce(l.ended_by, 0))`;
}

/** Ends claims on different locks; skips rows that are locked. */
export function leaveAll(tables: PostgresTables): string {
  const asked = 'unnest($1::text[], $2::text[], $3::text[]) AS a (name, id, secret)';
  return leave(tables, asked, freeOf(tables.lock));
}

function freeOf(lock: string): string {
  return `free AS MATERIALIZED (
  SELECT l.name FROM ${lock} l JOIN asked a ON a.name = l.name AND a.id = l.id
  ORDER BY l.name FOR UPDATE OF l SKIP LOCKED
)`;
}

const ONE = '(SELECT $1::text, $2::text, $3::text) AS a (name, id, secret)';

/**
 * The first line of the crowd holds, where there is one: it wants all there is, as did the one that
 * leaves, whose secret it is told (wakes.ts). With `free`, only in rows that are; else it waits.
 */
export function leave({ lock, witness }: PostgresTables, asked: string = ONE, free = ''): string {
  const proved = ['l.ended', 'l.ended_by', `nullif(a.secret, '')`];
  const held = [`'h'`, 'l.number', msUntil('l.until'), 'l.waiters', `'-'`, ...proved];
  const left = msUntil(`${wordOf(1, 2)}::bigint`);
  const next = [`'w'`, left, `'1'`, `'-'`, `'queue'`, msUntil('l.until')];
  return `
WITH asked AS MATERIALIZED (SELECT * FROM ${asked})${free && `, ${free}`}
UPDATE ${lock} l SET rev = l.rev + 1,
  (id, number, until, ttl, tag, holder, crowd, waiters, tail, ended, ended_by) = (
    SELECT f[3], f[1]::bigint, coalesce(f[2]::bigint, ${NOW}), f[4]::integer, f[5], f[7],
      substr(l.crowd, length(line) + 2), greatest(l.waiters - 1, 0),
      CASE WHEN l.waiters > 1 THEN l.tail END,
      CASE WHEN l.waiters > 0 THEN 'released' END, CASE WHEN l.waiters > 0 THEN l.number END
    FROM (
      SELECT line, string_to_array(line, E'\\t') AS f
      FROM (SELECT split_part(l.crowd, E'\\n', 1) AS line OFFSET 0) AS front OFFSET 0
    ) AS next
  )
FROM asked a WHERE l.name = a.name AND l.id = a.id AND l.state IS NULL AND l.until > ${NOW}
  AND ${lives(1)} AND ${lives(2)} AND ${free ? 'a.name IN (SELECT name FROM free)' : 'true'}
  AND CASE WHEN l.waiters = 0 THEN true ELSE EXISTS (
    SELECT FROM ${witness} w WHERE w.written = w.xmin AND w.open_at <= ${NOW}
  ) END
RETURNING a.id,
  CASE WHEN l.id IS NOT NULL AND l.ended IS NOT NULL THEN ${notify('l.tag', ...held)} END,
  CASE WHEN l.waiters > 0 THEN ${notify(wordOf(1, 5), ...next)} END`;
}
