import type { Fault } from '../fault.ts';

const schema = { file: 'src/stores/postgres/schema.sql' };

/** What the routines of a database can get wrong. */
export const POSTGRES_FAULTS: readonly Fault[] = [
  {
    ...schema,
    name: 'postgres: the time is that of the beginning of the transaction',
    find: 'extract(epoch FROM clock_timestamp())',
    replace: 'extract(epoch FROM now())',
    why: 'whoever waited for a lock of the database is taken to live in the past',
  },
  {
    ...schema,
    name: 'postgres: a batch waits for one row while it has others',
    find: 'ORDER BY name FOR UPDATE SKIP LOCKED\n  )\n  SELECT array_agg(n)',
    replace: 'ORDER BY name FOR UPDATE\n  )\n  SELECT array_agg(n)',
    why: 'a row that somebody keeps locked costs leases that have nothing to do with it',
  },
  {
    ...schema,
    name: 'postgres: the quick way does not look for tombstones',
    find: `AND r.ended IS NULL
      AND r.graves <= holdfast.micros()`,
    replace: 'AND r.ended IS NULL',
    why: 'a late copy of a claim that was released holds until its TTL ends',
  },
  {
    ...schema,
    name: 'postgres: whoever asks first is let in past those who wait',
    find: 'IS TRUE) AND r.waiters = 0\n      AND',
    replace: 'IS TRUE)\n      AND',
    why: 'a writer waits for ever while readers come and go',
  },
  {
    ...schema,
    name: 'postgres: numbers are nothing but the time',
    find: `      number = greatest(r.number + 1, holdfast.micros(), s.highest + 1),`,
    replace: `      number = holdfast.micros(),`,
    why: 'when the clock goes back, a later holder has a smaller token',
  },
  {
    ...schema,
    name: 'postgres: what is swept away leaves no number behind',
    find: 'SET highest = greatest(highest, w.long_ago)',
    replace: 'SET highest = highest',
    why: 'when the clock goes back, a later holder has a smaller token',
  },
  {
    ...schema,
    name: 'postgres: a heartbeat revives what is dead',
    find: ` AND r.expires > holdfast.micros()
    RETURNING r.number, r.ttl, r.id`,
    replace: '\n    RETURNING r.number, r.ttl, r.id',
    why: 'a hold that has ended comes back, unnoticed by whoever saw it end',
  },
  {
    ...schema,
    name: 'postgres: anybody releases',
    find: `WHERE r.id = excluded.concerns[1] AND r.expires > holdfast.micros()
    RETURNING r.name, r.number
`,
    replace: 'WHERE r.id IS NOT NULL\n    RETURNING r.name, r.number\n',
    why: 'a late release takes the lock from another holder',
  },
  {
    ...schema,
    name: 'postgres: a claim that leaves the front tells nobody who comes next',
    find: `        r.told := next.number;
        r.concerns := r.concerns || next.id;`,
    replace: '        r.told := next.number;',
    why: 'when the next holder dies, the first waiter learns of it late',
  },
  {
    ...schema,
    name: 'postgres: another history counts as no loss',
    find: 'lost := s.history <> present\n',
    replace: 'lost := false\n',
    why: 'after a fail-over two hold what only the old primary had granted',
  },
  {
    ...schema,
    name: 'postgres: nobody remembers that commits were not waited for',
    find: "s.fast := s.fast OR (settings->>'fast')::boolean;",
    replace: 's.fast := false;',
    why: 'after a crash two hold what was not on disk',
  },
  {
    ...schema,
    name: 'postgres: the witness is not looked at',
    find: `FROM holdfast.store known, holdfast.witness w
  WHERE w.written = w.xmin AND`,
    replace: `FROM holdfast.store known
  WHERE`,
    why: 'after a loss of data two hold the same lock',
  },
  {
    ...schema,
    name: 'postgres: a witness that was restored is believed',
    find: 'WHERE w.written = w.xmin AND known.max_ttl >= begin.max_ttl',
    replace: 'WHERE known.max_ttl >= begin.max_ttl',
    why: 'after a dump is restored two hold what was granted since',
  },
  {
    ...schema,
    name: 'postgres: nobody looks at the history when a connection opens',
    find: 'IF s.history <> holdfast.history() THEN DELETE FROM holdfast.witness; END IF;',
    replace: '',
    why: 'in a copy of the database two hold what was granted since',
  },
  {
    ...schema,
    name: 'postgres: the history does not say that it began with a base backup',
    find: "pg_stat_file('backup_label.old', true)",
    replace: "pg_stat_file('no_such_file', true)",
    why: 'where a base backup is started two hold what was granted since',
  },
  {
    ...schema,
    name: 'postgres: what the server hides is taken for what it was',
    find: "OR s.max_ttl > 0 AND strpos(present, '?') > 0",
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
    file: 'src/stores/postgres/bounded.ts',
    name: 'postgres: a statement waits for a table as long as it takes',
    find: "set_config('lock_timeout'",
    replace: "set_config('holdfast.nothing'",
    why: 'while a table is locked, the sessions of the server run out',
  },
  {
    ...schema,
    name: 'postgres: a strict grant is not waited for where the server would not',
    find: "ELSIF current_setting('synchronous_commit') = 'off' THEN",
    replace: "ELSIF current_setting('synchronous_commit') = 'none' THEN",
    why: 'after a crash two hold what was not on disk',
  },
  {
    ...schema,
    name: 'postgres: who waits for a lock waits as long as it takes',
    find: "done text := set_config('lock_timeout', patience, true);",
    replace: 'done text;',
    why: 'one stopped session keeps everybody’s heartbeats from the server',
  },
  {
    file: 'src/stores/sql/link.ts',
    name: 'databases: releases wait for claims',
    find: "lane === 'claims' || (lane === 'releases' && claims.idle)",
    replace: "lane !== 'heartbeats'",
    why: 'a claim that waits for a lock of the database keeps other locks from being free',
  },
  {
    file: 'src/stores/sql/session.ts',
    name: 'databases: a call waits for its turn longer than core waits for the call',
    find: '(connected, Math.min(withinMs, CONNECT_MS))',
    replace: '(connected, CONNECT_MS)',
    why: 'a claim that was given up is let in after its tombstone',
  },
  {
    file: 'src/stores/sql/apart.ts',
    name: 'databases: a claim whose row is busy is not asked about again',
    find: 'if (busy.length === 0 || clock.now() >= until) return replies;',
    replace: 'if (busy.length >= 0) return replies;',
    why: 'where a lock is hot, claims and heartbeats fail though its row is free a moment later',
  },
  {
    file: 'src/stores/sql/sweeper.ts',
    name: 'databases: a sweep ends while there is more',
    find: 'if (first.length === 0) return;',
    replace: 'if (first.length >= 0) return;',
    why: 'with many new names, tables grow for ever',
  },
  {
    ...schema,
    name: 'postgres: a claim that comes alone does not look at the witness',
    find: `FROM holdfast.store AS known, holdfast.witness w
  WHERE w.written = w.xmin AND`,
    replace: `FROM holdfast.store AS known
  WHERE`,
    why: 'after a loss of data two hold the same lock',
  },
  {
    ...schema,
    name: 'postgres: a claim that comes alone does not look for tombstones',
    find: `AND r.ended IS NULL AND r.graves <= holdfast.micros()
  RETURNING r.number INTO given;`,
    replace: `AND r.ended IS NULL
  RETURNING r.number INTO given;`,
    why: 'a late copy of a claim that was released holds until its TTL ends',
  },
  {
    ...schema,
    name: 'postgres: a release that comes alone is anybody’s',
    find: `WHERE r.name = resource AND r.id = asked AND r.expires > holdfast.micros();`,
    replace: `WHERE r.name = resource AND r.id IS NOT NULL;`,
    why: 'a late release takes the lock from another holder',
  },
  {
    ...schema,
    name: 'postgres: the short way into a queue passes by a dead holder',
    find: 'front[1].admitted AND front[1].expires > now AND front[1].permits',
    replace: 'front[1].admitted AND front[1].permits',
    why: 'nobody is let in although nobody holds, as long as others come',
  },
  {
    ...schema,
    name: 'postgres: the short way out of a queue is open to who waits',
    find: 'IF (own.id = asked AND own.admitted',
    replace: 'IF (own.admitted',
    why: 'two hold when somebody gives up waiting',
  },
  {
    ...schema,
    name: 'postgres: the short way out of a queue lets in the dead',
    find: 'r.told = next.number\n    AND next.expires > now',
    replace: 'r.told = next.number',
    why: 'nobody hears of it, and the others wait for a dead one',
  },
  {
    ...schema,
    name: 'postgres: a waiter may keep a record',
    find: 'AND c.resource = keep.resource AND c.admitted AND c.expires > now',
    replace: 'AND c.resource = keep.resource AND c.expires > now',
    why: 'work is taken for done by somebody who has not done it',
  },
  {
    ...schema,
    name: 'postgres: a claim that is over may keep a record',
    find: 'WHERE r.name = keep.resource AND r.id = asked AND r.expires > now',
    replace: 'WHERE r.name = keep.resource AND r.id = asked',
    why: 'who stalled overwrites what the next one says',
  },
  {
    ...schema,
    name: 'postgres: records that are over stay',
    find: '  PERFORM holdfast.forget(now, 2);\n',
    replace: '',
    why: 'the table grows for ever',
  },
];
