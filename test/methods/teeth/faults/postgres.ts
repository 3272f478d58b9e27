import type { Fault } from '../fault.ts';

const holding = { file: 'src/stores/postgres/holding.ts' };
const statements = { file: 'src/stores/postgres/statements.ts' };
const history = { file: 'src/stores/postgres/history.ts' };
const opening = { file: 'src/stores/postgres/opening.ts' };
const row = { file: 'src/stores/sql/row.ts' };
const applying = { file: 'src/stores/sql/applying.ts' };
const store = { file: 'src/stores/sql/row-store.ts' };

/** What statements on the rows of locks can get wrong, and what decides beside them. */
export const POSTGRES_FAULTS: readonly Fault[] = [
  {
    file: 'src/stores/postgres/fragments.ts',
    name: 'postgres: the time is that of the beginning of the transaction',
    find: 'extract(epoch FROM clock_timestamp())',
    replace: 'extract(epoch FROM now())',
    why: 'a claim that waited for its row is taken to live in the past',
  },
  {
    ...holding,
    name: 'postgres: a batch waits for one row while it has others',
    find: 'ORDER BY l.name FOR UPDATE SKIP LOCKED',
    replace: 'ORDER BY l.name FOR UPDATE',
    why: 'a row that another session keeps locked costs leases that have nothing to do with it',
  },
  {
    ...holding,
    name: 'postgres: a row that is odd is taken',
    find: `WHERE l.state IS NULL AND (l.id IS NULL OR \${JOINS})`,
    replace: `WHERE l.id IS NULL OR \${JOINS}`,
    why: 'a late copy of a claim that was released holds until its TTL ends',
  },
  {
    ...holding,
    name: 'postgres: claims line up behind a dead holder',
    find: `const JOINS = \`l.until > \${NOW} AND`,
    replace: 'const JOINS = `',
    why: 'nobody is let in although nobody holds, as long as others come',
  },
  {
    ...holding,
    name: 'postgres: a claim lines up twice',
    find: '(NOT a.queue OR a.id = l.id OR strpos(l.crowd, a.id) > 0)',
    replace: 'NOT a.queue',
    why: 'a claim that is asked again waits behind itself',
  },
  {
    ...holding,
    name: 'postgres: numbers are nothing but the time',
    find: "const DRAWN = 'greatest(l.last + 1, excluded.number)';",
    replace: "const DRAWN = 'excluded.number';",
    why: 'when the clock goes back, a later holder has a smaller token',
  },
  {
    ...holding,
    name: 'postgres: claims that line up together share a number',
    find: '+ a.n - 1`;',
    replace: '`;',
    why: 'two holders have the same token',
  },
  {
    ...holding,
    name: 'postgres: a free row is taken from its holder',
    find: 'WHERE l.state IS NULL AND l.id IS NULL\nRETURNING',
    replace: 'WHERE l.state IS NULL\nRETURNING',
    why: 'two hold the same lock',
  },
  {
    ...holding,
    name: 'postgres: the last claim leaves although others have come',
    find: 'AND l.waiters = 0 AND l.state IS NULL',
    replace: 'AND l.state IS NULL',
    why: 'the waiters are forgotten, and wait for ever',
  },
  {
    file: 'src/stores/sql/runs.ts',
    name: 'postgres: claims line up together although the lock has room for both',
    find: 'return same && permits >= limit && queue && first.queue;',
    replace: 'return same && queue && first.queue;',
    why: 'a semaphore lets one in at a time',
  },
  {
    ...statements,
    name: 'postgres: what is swept away leaves no number behind',
    find: `SET highest = greatest(highest, \${NOW} - $1::bigint)`,
    replace: 'SET highest = highest',
    why: 'when the clock goes back, a later holder has a smaller token',
  },
  {
    ...holding,
    name: 'postgres: a heartbeat revives what is dead',
    find: `AND l.state IS NULL AND l.until > \${NOW}
  AND \${lives(1)} AND a.name IN`,
    replace: `AND l.state IS NULL
  AND \${lives(1)} AND a.name IN`,
    why: 'a hold that has ended comes back, unnoticed by a program that saw it end',
  },
  {
    ...holding,
    name: 'postgres: anybody releases',
    find: `AND l.id = a.id AND l.state IS NULL AND l.until > \${NOW}
  AND \${lives(1)} AND \${lives(2)}`,
    replace: `AND l.state IS NULL AND l.until > \${NOW}
  AND \${lives(1)} AND \${lives(2)}`,
    why: 'a late release takes the lock from another holder',
  },
  {
    ...holding,
    name: 'postgres: a dead waiter is let in',
    find: `AND \${lives(1)} AND \${lives(2)} AND \${from}`,
    replace: `AND \${from}`,
    why: 'nobody hears of it, and the others wait for a dead one',
  },
  {
    ...holding,
    name: 'postgres: a claim that leaves the front tells nobody who comes next',
    find: `CASE WHEN l.waiters > 0 THEN \${notify(wordOf(1, 5), ...next)} END`,
    replace: 'NULL',
    why: 'when the next holder dies, the first waiter learns of it late',
  },
  {
    ...holding,
    name: 'postgres: a release lets in after a loss of data',
    find: 'CASE WHEN l.waiters = 0 THEN true ELSE EXISTS (',
    replace: 'CASE WHEN true THEN true ELSE EXISTS (',
    why: 'after a loss of data two hold the same lock',
  },
  {
    ...row,
    name: 'postgres: a row is plain whatever its waiters want',
    find: 'return same && !each.admitted && !each.sealed;',
    replace: 'return !each.admitted && !each.sealed;',
    why: 'a waiter comes in as another kind of claim',
  },
  {
    ...row,
    name: 'postgres: the row forgets its tombstones',
    find: 'const remembers = unfinished !== undefined || [...tombstones].length > 0;',
    replace: 'const remembers = unfinished !== undefined;',
    why: 'a late copy of a claim that was released holds until its TTL ends',
  },
  {
    file: 'src/stores/sql/lines.ts',
    name: 'postgres: a write is made on whatever is there',
    find: 'return { name, rev, ...columns,',
    replace: 'return { name, rev: 0, ...columns,',
    why: 'a lock that was claimed once is never to be had again',
  },
  {
    ...applying,
    name: 'postgres: a step is believed before it is written',
    find: '!made.get(name)?.write || written.includes(name)',
    replace: 'made.has(name)',
    why: 'two hold the same lock',
  },
  {
    ...applying,
    name: 'postgres: a process never gets in line',
    find: 'const alone = lost < RACES ? undefined',
    replace: 'const alone = lost >= 0 ? undefined',
    why: 'where a lock is hot, claims and heartbeats fail',
  },
  {
    ...history,
    name: 'postgres: another history counts as no loss',
    find: 'const lost = other ||',
    replace: 'const lost =',
    why: 'after a fail-over two hold what only the old primary had granted',
  },
  {
    ...history,
    name: 'postgres: nobody remembers that commits were not waited for',
    find: `fast = fast OR \${fast}`,
    replace: 'fast = false',
    why: 'after a crash two hold what was not on disk',
  },
  {
    ...holding,
    name: 'postgres: the witness is not looked at',
    find: 'return `w.written = w.xmin AND w.open_at',
    replace: 'return `w.open_at',
    why: 'after a dump is restored two hold what was granted since',
  },
  {
    ...opening,
    name: 'postgres: nobody looks at the history when a connection opens',
    find: 'const { hidden } = await settle(',
    replace: 'const { hidden } = await (async (..._: unknown[]) => ({ hidden: false }))(',
    why: 'in a copy of the database two hold what was granted since',
  },
  {
    ...history,
    name: 'postgres: the history does not say that it began with a base backup',
    find: "pg_stat_file('backup_label.old', true)",
    replace: "pg_stat_file('no_such_file', true)",
    why: 'where a base backup is started two hold what was granted since',
  },
  {
    ...history,
    name: 'postgres: what the server hides is taken for what it was',
    find: ' || (maxTtl > 0 && hidden)',
    replace: '',
    why: 'where a promotion cannot be told from a crash, two hold the same lock after it',
  },
  {
    file: 'src/stores/postgres/given-up.ts',
    name: 'postgres: sessions that were given up are not counted',
    find: 'if (this.#pids.size >= MOST) throw',
    replace: 'if (this.#pids.size < 0) throw',
    why: 'while a standby is away, one program uses up the connections of all',
  },
  {
    file: 'src/stores/postgres/opening.ts',
    name: 'postgres: nobody is warned of commits that are only local',
    find: "known.commits === 'local'",
    replace: "known.commits === 'nowhere'",
    why: 'a primary that is cut off goes on granting, and nobody knew that it may',
  },
  {
    file: 'src/stores/sql/link.ts',
    name: 'databases: releases wait for claims',
    find: "lane === 'claims' || (lane === 'releases' && claims.idle)",
    replace: "lane !== 'heartbeats'",
    why: 'a claim that waits for a lock of the database keeps other locks from being free',
  },
  {
    file: 'src/clients/kept-connection.ts',
    name: 'databases: a call waits for its turn longer than core waits for the call',
    find: '(connected, Math.min(withinMs, CONNECT_MS))',
    replace: '(connected, CONNECT_MS)',
    why: 'a claim that was given up is let in after its tombstone',
  },
  {
    ...applying,
    name: 'databases: a claim whose row is busy is not asked about again',
    find: 'if (isBlocked(error)) return undefined;',
    replace: '',
    why: 'where a lock is hot, claims and heartbeats fail though its row is free a moment later',
  },
  {
    file: 'src/stores/sql/sweeper.ts',
    name: 'databases: a sweep ends while there is more',
    find: 'if (name !== undefined) await',
    replace: 'if (name !== undefined) return;\n        await',
    why: 'with many new names, tables grow for ever',
  },
  {
    file: 'src/stores/sql/sweeper.ts',
    name: 'databases: a sweep has no session of its own',
    find: 'const session = this.#table.link.aside();',
    replace: `const { link } = this.#table;
    const ask = (name: string, args: string[]) => link.call(name, args, { lane: 'claims' });
    const session = { call: ask, close() {} };`,
    why: 'while a big table is swept, no claim is made',
  },
  {
    ...opening,
    name: 'postgres: a statement waits for a lock as long as it takes',
    find: `['lock_timeout', \`\${ROW_MS}\`, 0],`,
    replace: "['lock_timeout', '0', 0],",
    why: 'while a table is locked, the sessions of the server run out',
  },
  {
    ...opening,
    name: 'postgres: a strict grant is not waited for where the server would not',
    find: "return commits === 'off' ? 'on' : undefined;",
    replace: 'return undefined;',
    why: 'after a crash two hold what was not on disk',
  },
  {
    ...store,
    name: 'postgres: each statement of a claim has the whole ttl for its turn',
    find: 'since + ttlMs - clock.now()',
    replace: '0 * since + ttlMs',
    why: 'a claim that was given up is made after the tombstone of its release, for nobody',
  },
  {
    ...store,
    name: 'postgres: a claim that is over may keep a record',
    find: 'if (!row || !queue.keep(',
    replace: 'if (!row || queue.keep(',
    why: 'a program that stalled overwrites what the next one says',
  },
  {
    ...statements,
    name: 'postgres: records that are over stay',
    find: `DELETE FROM \${kept} WHERE name <> $1::text AND name IN (\${over(kept, '2')})`,
    replace: `DELETE FROM \${kept} WHERE false`,
    why: 'the table grows for ever',
  },
];
