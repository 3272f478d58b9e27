import { type Faults, inTest } from '../fault.ts';

const holding = { file: 'src/stores/postgres/holding.ts' };
const history = { file: 'src/stores/postgres/history.ts' };

const PG = 'test/stores/postgres/conformance/pg.test.ts';
const SCHEMA = 'test/stores/postgres/schema.test.ts';
const DURABILITY = 'test/stores/postgres/durability.test.ts';

/** Statements on the rows of locks, and what became of the data. */
export const POSTGRES_FAULTS: Faults = {
  'postgres: the time is that of the beginning of the transaction': {
    file: 'src/stores/postgres/fragments.ts',
    find: 'extract(epoch FROM clock_timestamp())',
    replace: 'extract(epoch FROM now())',
    why: 'a claim that waited for its row is taken to live in the past',
    by: inTest(
      'test/stores/postgres/differential.test.ts',
      'PostgreSQL answers and tells as memory does',
    ),
  },
  'postgres: a row that is odd is taken': {
    ...holding,
    find: `WHERE l.state IS NULL AND (l.id IS NULL OR \${JOINS})`,
    replace: `WHERE l.id IS NULL OR \${JOINS}`,
    why: 'a late copy of a claim that was released holds until its TTL ends',
    by: inTest(PG, 'try: a try that would fit overtakes no waiter'),
  },
  'postgres: numbers are nothing but the time': {
    ...holding,
    find: "const DRAWN = 'greatest(l.last + 1, excluded.number)';",
    replace: "const DRAWN = 'excluded.number';",
    why: 'when the clock goes back, a later holder has a smaller token',
    by: inTest(SCHEMA, 'numbers grow although the clock goes back'),
  },
  'postgres: claims that line up together share a number': {
    ...holding,
    find: '+ a.n - 1`;',
    replace: '`;',
    why: 'two holders have the same token',
    by: inTest(
      PG,
      'semaphoreAsMutex, sharing: several Locks on several connections exclude each other',
    ),
  },
  'postgres: a row is taken again from its holder': {
    ...holding,
    find: 'WHERE l.name = $1::text AND l.id IS NULL AND l.state IS NULL',
    replace: 'WHERE l.name = $1::text AND l.state IS NULL',
    why: 'two hold the same lock',
    by: inTest(PG, 'claim: the second claim waits'),
  },
  'postgres: the last claim leaves although others have come': {
    ...holding,
    find: 'AND l.waiters = 0 AND l.state IS NULL',
    replace: 'AND l.state IS NULL',
    why: 'the waiters are forgotten, and wait for ever',
    by: inTest(PG, 'claim: connections share a queue'),
  },
  'postgres: what is swept away leaves no number behind': {
    file: 'src/stores/postgres/statements.ts',
    find: `SET highest = greatest(highest, \${NOW} - $1::bigint)`,
    replace: 'SET highest = highest',
    why: 'when the clock goes back, a later holder has a smaller token',
    by: inTest(
      SCHEMA,
      'a sweep',
      'takes what was idle, leaves what is held, and no number is given again',
    ),
  },
  'postgres: a heartbeat revives what is dead': {
    ...holding,
    find: `AND l.state IS NULL AND l.until > \${NOW}
  AND \${lives(1)} AND a.name IN`,
    replace: `AND l.state IS NULL
  AND \${lives(1)} AND a.name IN`,
    why: 'a hold that has ended comes back, unnoticed by a program that saw it end',
    by: inTest(PG, 'renew: renewing too late is refused even without a look in between'),
  },
  'postgres: anybody releases': {
    ...holding,
    find: `AND l.id = a.id AND l.state IS NULL AND l.until > \${NOW}
  AND \${lives(1)} AND \${lives(2)}`,
    replace: `AND l.state IS NULL AND l.until > \${NOW}
  AND \${lives(1)} AND \${lives(2)}`,
    why: 'a late release takes the lock from another holder',
    by: inTest(PG, 'claim: a holder is told whether claims wait behind it'),
  },
  'postgres: a release lets in after a loss of data': {
    ...holding,
    find: 'CASE WHEN l.waiters = 0 THEN true ELSE EXISTS (',
    replace: 'CASE WHEN true THEN true ELSE EXISTS (',
    why: 'after a loss of data two hold the same lock',
    by: inTest(PG, 'data loss: a waiter is admitted no earlier for one that trusts'),
  },
  'postgres: another history counts as no loss': {
    ...history,
    find: 'const lost = other ||',
    replace: 'const lost =',
    why: 'after a fail-over two hold what only the old primary had granted',
    by: inTest(DURABILITY, 'a promoted standby may lack grants, so it makes everybody wait'),
  },
  'postgres: nobody remembers that commits were not waited for': {
    ...history,
    find: `fast = fast OR \${fast}`,
    replace: 'fast = false',
    why: 'after a crash two hold what was not on disk',
    by: inTest(DURABILITY, 'the longest time of all programs counts'),
  },
  'postgres: the witness is not looked at': {
    ...holding,
    find: 'return `w.written = w.xmin AND w.open_at',
    replace: 'return `w.open_at',
    why: 'after a dump is restored two hold what was granted since',
    by: inTest(
      'test/stores/postgres/restores.test.ts',
      'a dump makes all wait in the database that it is of',
    ),
  },
  'postgres: a strict grant is not waited for where the server would not': {
    file: 'src/stores/postgres/opening.ts',
    find: "return commits === 'off' ? 'on' : undefined;",
    replace: 'return undefined;',
    why: 'after a crash two hold what was not on disk',
    by: inTest(DURABILITY, 'a crash loses nothing that was waited for, so nobody has to wait'),
  },
};
