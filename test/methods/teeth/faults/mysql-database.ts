import type { Fault } from '../fault.ts';

const schema = { file: 'src/stores/mysql/schema.sql' };
const source = { file: 'src/stores/mysql/source.ts' };
const migration = { file: 'src/stores/mysql/migration.ts' };

/** What can go wrong around the procedures: rights, sessions, copies of the data, migrations. */
export const MYSQL_DATABASE_FAULTS: readonly Fault[] = [
  {
    ...schema,
    name: 'mysql: what a verb is made of runs as whoever migrated',
    find: `_how VARCHAR(8) CHARSET ascii, _by BIGINT, INOUT _rings LONGTEXT CHARSET ascii
) SQL SECURITY INVOKER`,
    replace: `_how VARCHAR(8) CHARSET ascii, _by BIGINT, INOUT _rings LONGTEXT CHARSET ascii
) SQL SECURITY DEFINER`,
    why: 'whoever may take locks says what time it is, and takes what others hold',
  },
  {
    ...schema,
    name: 'mysql: the time is what a session says it is',
    find: `  SET timestamp = DEFAULT;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION READ WRITE;
  IF CAST(`,
    replace: `  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION READ WRITE;
  IF CAST(`,
    why: 'whoever may take locks says what time it is, and takes what others hold',
  },
  {
    ...schema,
    name: 'mysql: whoever has a named lock is rung',
    find: "IF _channel REGEXP '^holdfast[_][0-9a-f]{16}$' THEN",
    replace: 'IF TRUE THEN',
    why: 'whoever may take locks interrupts sessions of everybody else',
  },
  {
    ...schema,
    name: 'mysql: a copy that is put back is not noticed',
    find: 't.table_schema, UNIX_TIMESTAMP(t.create_time),',
    replace: 't.table_schema,',
    why: 'what was granted since the copy was made is granted again',
  },
  {
    ...schema,
    name: 'mysql: sessions look but once whose data it is',
    find: 'IF NOT @holdfast_asked <=> UTC_TIMESTAMP() + 0 THEN',
    replace: 'IF @holdfast_history IS NULL THEN',
    why: 'programs that run on grant what a copy that was put back does not know of',
  },
  {
    ...schema,
    name: 'mysql: a restart is not noticed',
    find: 'SELECT UNIX_TIMESTAMP() - CAST(g.variable_value AS SIGNED),',
    replace: 'SELECT 1,',
    why: 'after a crash that lost commits two hold the same lock',
  },
  {
    ...schema,
    name: 'mysql: to evict goes on where no row could be locked',
    find: `  IF _number IS NULL THEN
    CALL holdfast_missing(_id, _now, _open_at, _line);
    COMMIT;`,
    replace: `  IF FALSE THEN
    CALL holdfast_missing(_id, _now, _open_at, _line);
    COMMIT;`,
    why: 'waiters are counted that have gone, and a free lock is refused for ever',
  },
  {
    ...source,
    name: 'mysql: a session is as the server makes it',
    find: 'const connect = prepared(client);',
    replace: 'const connect = prepared === undefined ? prepared(client) : client;',
    why: 'without autocommit nobody who waits hears of anything',
  },
  {
    ...migration,
    name: 'mysql: to migrate again replaces what is as wanted',
    find: 'else if (there.get(name) !== hash)',
    replace: 'else if (there.get(name) !== 0)',
    why: 'each program that starts makes all the others stumble',
  },
  {
    ...migration,
    name: 'mysql: a procedure that is there is not brought up to date',
    find: 'else if (there.get(name) !== hash)',
    replace: 'else if (!there.has(name))',
    why: 'a mended package leaves the fault in the database',
  },
  {
    file: 'src/stores/mysql/mariadb-connection.ts',
    name: 'mysql: a pool of mariadb that lends no connection is waited for without a word',
    find: 'const LOAN_MS = 500;',
    replace: 'const LOAN_MS = 3_600_000;',
    why: 'a program that waits for its own transaction does not learn it',
  },
  {
    file: 'src/stores/mysql/bell.ts',
    name: 'mysql: named locks are asked for wherever a proxy reads',
    find: "export const ON_PRIMARY = 'FOR UPDATE';",
    replace: "export const ON_PRIMARY = '';",
    why: 'behind a proxy that reads from replicas no waiter is woken',
  },
];
