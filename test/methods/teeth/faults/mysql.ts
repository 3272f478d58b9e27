import type { Fault } from '../fault.ts';

const fragments = { file: 'src/stores/mysql/fragments.ts' };
const holding = { file: 'src/stores/mysql/holding.ts' };
const batches = { file: 'src/stores/mysql/batches.ts' };
const statements = { file: 'src/stores/mysql/statements.ts' };
const verbs = { file: 'src/stores/mysql/verbs.ts' };
const wakeSession = { file: 'src/stores/mysql/wake-session.ts' };
const failures = { file: 'src/clients/sql/failures.ts' };
const source = { file: 'src/stores/mysql/source.ts' };

/** What the statements of MySQL can get wrong, and who sends them and is rung by them. */
export const MYSQL_FAULTS: readonly Fault[] = [
  {
    ...fragments,
    name: 'mysql: the time is that before the wait for the lock',
    find: `micros('SYSDATE(6)')`,
    replace: `micros('UTC_TIMESTAMP(6)')`,
    why: 'whoever waited for a lock of the database is taken to live in the past',
  },
  {
    ...holding,
    name: 'mysql: a claim that comes alone does not look for tombstones',
    find: `\`IF(id IS NULL AND state IS NULL, \${value}, \${other})\``,
    replace: `\`IF(id IS NULL, \${value}, \${other})\``,
    why: 'a late copy of a claim that was released holds until its TTL ends',
  },
  {
    ...holding,
    name: 'mysql: what is swept away leaves no number behind',
    find: `const FIRST = \`GREATEST(\${BEGAN}, s.highest + 1)\`;`,
    replace: `const FIRST = \`GREATEST(\${BEGAN}, 1)\`;`,
    why: 'when the clock goes back, a later holder has a smaller token',
  },
  {
    ...holding,
    name: 'mysql: the short way into a queue passes by a dead holder',
    find: `\`until > \${NOW} AND \${lives(1)} AND COALESCE(tail, until) > \${NOW}`,
    replace: '`TRUE',
    why: 'whoever comes does not let in who has waited for that death',
  },
  {
    ...holding,
    name: 'mysql: who waits is not counted',
    find: `waiters = waiters + (step = 'w')`,
    replace: 'waiters = waiters',
    why: 'a queue has no bound, and others are let in past it',
  },
  {
    ...holding,
    name: 'mysql: a heartbeat revives what is dead',
    find: `AND state IS NULL AND until > \${NOW}
  AND \${lives(1)} AND \${WRITABLE}\`;`,
    replace: `AND state IS NULL AND \${lives(1)} AND \${WRITABLE}\`;`,
    why: 'a hold that has ended comes back, unnoticed by whoever saw it end',
  },
  {
    ...holding,
    name: 'mysql: a heartbeat waits for its row',
    find: `FOR UPDATE NOWAIT;
UPDATE`,
    replace: `FOR UPDATE;
UPDATE`,
    why: 'one row that stays locked keeps the heartbeats of other leases from the server',
  },
  {
    ...holding,
    name: 'mysql: a release that comes alone is anybody’s',
    find: 'AND id = ? AND waiters = 0',
    replace: 'AND (id = ? OR TRUE) AND waiters = 0',
    why: 'a late release takes the lock from another holder',
  },
  {
    ...holding,
    name: 'mysql: anybody releases',
    find: `AND id = ? AND state IS NULL AND until > \${NOW}
  AND \${lives(1)} AND \${lives(2)}`,
    replace: `AND ? <> '' AND state IS NULL AND until > \${NOW}
  AND \${lives(1)} AND \${lives(2)}`,
    why: 'a late release takes the lock from another holder',
  },
  {
    ...holding,
    name: 'mysql: the short way out of a queue lets in the dead',
    find: `AND \${lives(1)} AND \${lives(2)} AND \${WRITABLE}`,
    replace: `AND \${WRITABLE}`,
    why: 'everybody waits until somebody finds that who holds has long been dead',
  },
  {
    ...holding,
    name: 'mysql: who is let in is rung, and finds no news',
    find: `told = \${next(toldOf('tag'))},`,
    replace: "told = CONCAT(LEFT(tag, 16), ' 0'),",
    why: 'every hand-off waits for a heartbeat',
  },
  {
    ...holding,
    name: 'mysql: whoever comes is let in before a loss is waited out',
    find: `AND \${intact(known)} AND s.open_at <= \${BEGAN}`,
    replace: `AND \${intact(known)}`,
    why: 'after a loss of data two hold the same lock',
  },
  {
    ...batches,
    name: 'mysql: a batch that did something did it for all its claims',
    find: `if (left === '0') return claims;`,
    replace: `if (Number(left) < claims.length) return claims;`,
    why: 'claims hold locks that others hold',
  },
  {
    ...batches,
    name: 'mysql: claims of a batch are told apart by their locks alone',
    find: `ids.get(name) === id`,
    replace: `ids.has(name)`,
    why: 'claims hold locks that others hold',
  },
  {
    ...batches,
    name: 'mysql: releases of a batch forget who waits',
    find: ` AND waiters = 0\`;`,
    replace: '`;',
    why: 'nobody lets in those who wait behind the holder',
  },
  {
    ...batches,
    name: 'mysql: claims of a batch take no row that is new',
    find: `fresh.length === 0 || textOf === takeNew`,
    replace: `fresh.length >= 0`,
    why: 'many new locks at once take four statements each',
  },
  {
    ...statements,
    name: 'mysql: a batch waits for one row while it has others',
    find: `rows.length > 1 ? 'SKIP LOCKED' : 'NOWAIT'`,
    replace: `rows.length > 1 ? '' : 'NOWAIT'`,
    why: 'a row that somebody keeps locked costs leases that have nothing to do with it',
  },
  {
    ...statements,
    name: 'mysql: a row that has moved is written over',
    find: 'rows.map(({ name, rev, ...columns }) => {',
    replace: `rows.map(({ name, rev: read, ...columns }) => {
    const rev = read === 0 ? 0 : 'rev';`,
    why: 'two programs let in two holders at once',
  },
  {
    ...statements,
    name: 'mysql: a row that was made meanwhile is made anew',
    find: `\`INSERT IGNORE INTO \${lock} (name, rev,`,
    replace: `\`REPLACE INTO \${lock} (name, rev,`,
    why: 'of two who find a lock that is new both hold it',
  },
  {
    ...statements,
    name: 'mysql: who was evicted is not told',
    find: `own.length === 0 ? 'DO 0'`,
    replace: `own.length >= 0 ? 'DO 0'`,
    why: 'somebody evicted goes on until the next heartbeat, beside the next holder',
  },
  {
    ...statements,
    name: 'mysql: a waiter may keep a record',
    find: `\`id = \${literal(id)} AND until > \${NOW}\``,
    replace: `\`until > \${NOW}\``,
    why: 'work is taken for done by somebody who has not done it',
  },
  {
    ...statements,
    name: 'mysql: records that are over stay',
    find: `\${forget(kept, 2)};`,
    replace: 'DO 0;',
    why: 'the table grows for ever',
  },
  {
    ...statements,
    name: 'mysql: a sweep takes what is held',
    find: `AND until < \${long} - IF(waiters > 0, @holdfast_ttl, 0) AND last`,
    replace: 'AND last',
    why: 'somebody else takes a lock that is held',
  },
  {
    ...statements,
    name: 'mysql: a sweep takes a crowd whose holder has just died',
    find: ' - IF(waiters > 0, @holdfast_ttl, 0)',
    replace: '',
    why: 'those who wait lose their places, and a later one comes before them',
  },
  {
    ...verbs,
    name: 'mysql: a row that could not be had counts as a wait',
    find: 'takenIn(Number(done?.[0] ?? 0))',
    replace: 'takenIn(Number(done?.[0]))',
    why: 'a claim that is in no queue waits for ever',
  },
  {
    ...verbs,
    name: 'mysql: whoever loses a deadlock is told so at once',
    find: 'numberOf(error) === DEADLOCK && tries > 1',
    replace: 'numberOf(error) === DEADLOCK && tries < 1',
    why: 'a transaction of somebody else makes a program fail that could go on',
  },
  {
    ...verbs,
    name: 'mysql: a claim that lost a deadlock is made again, however late',
    find: ' && performance.now() < by;',
    replace: ';',
    why: 'a claim that was released meanwhile holds for a ttl, once its tombstone is over',
  },
  {
    ...wakeSession,
    name: 'mysql: a commit that took long is not looked for',
    find: '[turn, now - BACK]',
    replace: '[turn, now]',
    why: 'on a busy server a hand-off waits for a heartbeat',
  },
  {
    ...wakeSession,
    name: 'mysql: whoever is rung takes it for a broken connection',
    find: 'if (!INTERRUPTED.includes(numberOf(error))) throw error;',
    replace: 'throw error;',
    why: 'a new connection for every hand-off',
  },
  {
    ...wakeSession,
    name: 'mysql: who looks goes on until the wait has begun',
    find: 'if (waits === null) setTimeout(',
    replace: 'if (waits === null && !over.signal.aborted) return look(asking);\n    setTimeout(',
    why: 'a listening session that is half-open keeps all heartbeats from the server',
  },
  {
    ...verbs,
    name: 'mysql: a release interrupts nobody',
    find: 'if (next > NEXT.unwoken)',
    replace: 'if (next < 0)',
    why: 'who is let in learns of it when it looks, up to a second later',
  },
  {
    ...verbs,
    name: 'mysql: a release tells its own process nothing',
    find: 'if (next === NEXT.own)',
    replace: 'if (next < 0)',
    why: 'who is let in learns of it when it looks, up to a second later',
  },
  {
    ...verbs,
    name: 'mysql: a release looks for a session only before its commit',
    find: 'if (next === NEXT.unwoken)',
    replace: 'if (next < 0)',
    why: 'who takes its name meanwhile learns of it when it looks, up to a second later',
  },
  {
    ...wakeSession,
    name: 'mysql: a wait is two statements',
    find: `GET_LOCK(\${begun}, 0),`,
    replace: `GET_LOCK(\${begun}, 0) \${ON_PRIMARY};\nSELECT`,
    why: 'a ring between the two ends both without an answer, and nothing is heard for seconds',
  },
  {
    ...statements,
    name: 'mysql: a write forgets what was told before',
    find: `SET told = IF(id = \${written(columns.id ?? null)}, told, NULL)`,
    replace: 'SET told = NULL',
    why: 'who was let in a moment ago learns of it with a heartbeat',
  },
  {
    ...statements,
    name: 'mysql: what was told of a row is forgotten when it is plain no more',
    find: 'columns.state === null ?',
    replace: 'columns.state !== undefined ?',
    why: 'who was let in a moment ago learns of it with a heartbeat',
  },
  {
    ...failures,
    name: 'mysql: a lock that was not got in time leaves it open what happened',
    find: `reason: 'lock-timeout',`,
    replace: `reason: 'lock-timeout', outcome: 'unknown',`,
    why: 'a try that has surely failed is looked after as if it held',
  },
  {
    ...failures,
    name: 'mysql: a call that was stopped has surely not happened',
    find: `...OVER,
    retryable: true,
    advice: 'stopped the call`,
    replace: `broken: true,
    retryable: true,
    advice: 'stopped the call`,
    why: 'a claim that was committed all the same holds until its TTL ends',
  },
  {
    ...source,
    name: 'mysql: NULL of GET_LOCK counts as the lock',
    find: `if (held !== '1')`,
    replace: `if (held === '0')`,
    why: 'nobody is woken, and every hand-off waits for a heartbeat',
  },
];
