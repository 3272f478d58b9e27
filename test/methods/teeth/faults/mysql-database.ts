import type { Fault } from '../fault.ts';

const history = { file: 'src/stores/mysql/history.ts' };
const opening = { file: 'src/stores/mysql/opening.ts' };
const source = { file: 'src/stores/mysql/source.ts' };
const wakeSession = { file: 'src/stores/mysql/wake-session.ts' };

/** What can go wrong around the statements: sessions, lost data, copies of it, migrations. */
export const MYSQL_DATABASE_FAULTS: readonly Fault[] = [
  {
    ...history,
    name: 'mysql: the history is not looked at',
    find: `s.history = \${literal(known.history)} AND`,
    replace: `s.history <> '' AND`,
    why: 'after a loss of data two hold the same lock',
  },
  {
    ...history,
    name: 'mysql: another server counts as no loss',
    find: `(wasFast === '1' || fast === '1' || dataOf(before) !== dataOf(history))`,
    replace: `(wasFast === '1' || fast === '1')`,
    why: 'after a fail-over two hold what only the old primary had granted',
  },
  {
    ...history,
    name: 'mysql: only what was recorded tells that commits are not waited for',
    find: `(wasFast === '1' || fast === '1' ||`,
    replace: `(wasFast === '1' ||`,
    why: 'after a crash that lost the record, too, two hold what was not on disk',
  },
  {
    ...history,
    name: 'mysql: a loss is waited out for the longest claim of who finds it',
    find: `\`GREATEST(max_ttl, \${maxTtlMs * 1000})\``,
    replace: `\`\${maxTtlMs * 1000}\``,
    why: 'a program with longer claims still believes when the next holder comes',
  },
  {
    ...history,
    name: 'mysql: a server that is read-only is not refused',
    find: `\`CAST(@@global.read_only AS CHAR) IN ('0', 'OFF')\``,
    replace: `'TRUE'`,
    why: 'a primary that was set aside goes on granting to whoever may do everything',
  },
  {
    ...history,
    name: 'mysql: a copy that is put back is not noticed',
    find: `DATABASE(), \${bornOf(store)},`,
    replace: 'DATABASE(),',
    why: 'what was granted since the copy was made is granted again',
  },
  {
    ...history,
    name: 'mysql: sessions look but once whose data it is',
    find: 'return performance.now() >= seenAt + LOOK_MS;',
    replace: 'return seenAt === 0;',
    why: 'programs that run on grant what a copy that was put back does not know of',
  },
  {
    ...history,
    name: 'mysql: a restart is not noticed',
    find: `UNIX_TIMESTAMP(SYSDATE()) - \${UPTIME},`,
    replace: '1,',
    why: 'after a crash that lost commits two hold the same lock',
  },
  {
    ...opening,
    name: 'mysql: who waits for a lock waits as long as it takes',
    find: 'innodb_lock_wait_timeout = 1,',
    replace: 'innodb_lock_wait_timeout = 50,',
    why: 'one stopped session keeps everybody’s claims from the server',
  },
  {
    ...source,
    name: 'mysql: a session is as the server makes it',
    find: 'const connect = prepared(client);',
    replace: 'const connect = prepared === undefined ? prepared(client) : client;',
    why: 'without autocommit nobody who waits hears of anything',
  },
  {
    file: 'src/clients/mysql/mariadb-connection.ts',
    name: 'mysql: a pool of mariadb that lends no connection is waited for without a word',
    find: 'const LOAN_MS = 500;',
    replace: 'const LOAN_MS = 3_600_000;',
    why: 'a program that waits for its own transaction does not learn it',
  },
  {
    ...wakeSession,
    name: 'mysql: named locks are asked for wherever a proxy reads',
    find: `export const ON_PRIMARY = 'FOR UPDATE';`,
    replace: `export const ON_PRIMARY = '';`,
    why: 'behind a proxy that reads from replicas no waiter is woken',
  },
  {
    file: 'src/clients/mysql/connection.ts',
    name: 'mysql: where nothing can be prepared, nothing is asked',
    find: 'if (!UNPREPARED.includes(numberOf(error))) throw error;',
    replace: 'throw error;',
    why: 'a server that others filled with prepared statements grants no lock',
  },
];
