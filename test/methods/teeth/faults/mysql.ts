import { type Faults, inTest } from '../fault.ts';

const holding = { file: 'src/stores/mysql/holding.ts' };
const statements = { file: 'src/stores/mysql/statements.ts' };
const history = { file: 'src/stores/mysql/history.ts' };

const MARIADB = 'test/stores/mysql/conformance/mariadb-mariadb.test.ts';
const SCHEMA = ['test/stores/mysql/schema.test.ts', 'MariaDB'] as const;
const DURABILITY = ['test/stores/mysql/durability.test.ts', 'MariaDB'] as const;

/** Statements on the rows of locks, and what became of the data. */
export const MYSQL_FAULTS: Faults = {
  'mysql: the time is that before the wait for the lock': {
    file: 'src/stores/mysql/fragments.ts',
    find: `micros('SYSDATE(6)')`,
    replace: `micros('UTC_TIMESTAMP(6)')`,
    why: 'whoever waited for a lock of the database is taken to live in the past',
    by: inTest(...SCHEMA, 'the time that a statement waits for its row counts'),
  },
  'mysql: a row that is taken again may have tombstones': {
    ...holding,
    find: 'WHERE name = ? AND id IS NULL AND state IS NULL',
    replace: 'WHERE name = ? AND id IS NULL',
    why: 'a late copy of a claim that was released holds until its TTL ends',
    by: inTest(
      ...SCHEMA,
      'a row that the program has taken before',
      'remembers the release of a claim that comes late',
    ),
  },
  'mysql: what is swept away leaves no number behind': {
    ...holding,
    find: `const FIRST = \`GREATEST(\${BEGAN}, s.highest + 1)\`;`,
    replace: `const FIRST = \`GREATEST(\${BEGAN}, 1)\`;`,
    why: 'when the clock goes back, a later holder has a smaller token',
    by: inTest(
      ...SCHEMA,
      'numbers are above all that were swept away, although the clock goes back',
    ),
  },
  'mysql: a heartbeat revives what is dead': {
    ...holding,
    find: `AND state IS NULL AND until > \${NOW}
  AND \${lives(1)} AND \${WRITABLE}\`;`,
    replace: `AND state IS NULL AND \${lives(1)} AND \${WRITABLE}\`;`,
    why: 'a hold that has ended comes back, unnoticed by whoever saw it end',
    by: inTest(MARIADB, 'renew: renewing too late is refused even without a look in between'),
  },
  'mysql: a release that comes alone is anybody’s': {
    ...holding,
    find: 'AND id = ? AND waiters = 0',
    replace: 'AND (id = ? OR TRUE) AND waiters = 0',
    why: 'a late release takes the lock from another holder',
    by: inTest(MARIADB, 'release: releasing by another id frees nothing'),
  },
  'mysql: a batch that did something did it for all its claims': {
    file: 'src/stores/mysql/batches.ts',
    find: `if (left === '0') return claims;`,
    replace: `if (Number(left) < claims.length) return claims;`,
    why: 'claims hold locks that others hold',
    by: inTest(...SCHEMA, 'a batch does at once what needs no queue, and waits for no row'),
  },
  'mysql: a row that has moved is written over': {
    ...statements,
    find: 'rows.map(({ name, rev, ...columns }) => {',
    replace: `rows.map(({ name, rev: read, ...columns }) => {
    const rev = read === 0 ? 0 : 'rev';`,
    why: 'two programs let in two holders at once',
    by: inTest(...SCHEMA, 'a write on a row that has moved changes nothing, and tells nobody'),
  },
  'mysql: a row that was made meanwhile is made anew': {
    ...statements,
    find: `\`INSERT IGNORE INTO \${lock} (name, rev,`,
    replace: `\`REPLACE INTO \${lock} (name, rev,`,
    why: 'of two who find a lock that is new both hold it',
    by: inTest(...SCHEMA, 'a row that was made meanwhile is not made again'),
  },
  'mysql: a sweep takes what is held': {
    ...statements,
    find: `AND until < \${long} - IF(waiters > 0, @holdfast_ttl, 0) AND last`,
    replace: 'AND last',
    why: 'somebody else takes a lock that is held',
    by: inTest(
      ...SCHEMA,
      'a sweep',
      'takes what was idle, leaves what is held, and no number is given again',
    ),
  },
  'mysql: a call that was stopped has surely not happened': {
    file: 'src/clients/sql/failures.ts',
    find: '{ ...CANCELLED, ...OVER }',
    replace: '{ ...CANCELLED, broken: true }',
    why: 'a claim that was committed all the same holds until its TTL ends',
    by: inTest('test/clients/sql-errors.test.ts', 'MySQL', 'what the server answers: 1317'),
  },
  'mysql: the history is not looked at': {
    ...history,
    find: `s.history = \${literal(known.history)} AND`,
    replace: `s.history <> '' AND`,
    why: 'after a loss of data two hold the same lock',
    by: inTest(
      ...DURABILITY,
      'after a restart',
      'all wait for the longest claim where one was not',
    ),
  },
  'mysql: another server counts as no loss': {
    ...history,
    find: `(wasFast === '1' || fast === '1' || dataOf(before) !== dataOf(history))`,
    replace: `(wasFast === '1' || fast === '1')`,
    why: 'after a fail-over two hold what only the old primary had granted',
    by: inTest(
      MARIADB,
      'data loss: no claim is admitted, and waiters are told why and for how long',
    ),
  },
  'mysql: a server that is read-only is not refused': {
    ...history,
    find: `\`CAST(@@global.read_only AS CHAR) IN ('0', 'OFF')\``,
    replace: `'TRUE'`,
    why: 'a primary that was set aside goes on granting to whoever may do everything',
    by: inTest(
      'test/stores/mysql/opening.test.ts',
      'MariaDB',
      'a server that was made read-only grants nothing, not even to root',
    ),
  },
  'mysql: a restart is not noticed': {
    ...history,
    find: `UNIX_TIMESTAMP(SYSDATE()) - \${UPTIME},`,
    replace: '1,',
    why: 'after a crash that lost commits two hold the same lock',
    by: inTest(...DURABILITY, 'after a stop without commits on disk, all wait'),
  },
};
