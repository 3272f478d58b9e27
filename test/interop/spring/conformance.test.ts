import { springJdbcStore } from 'holdfast/spring';
import { describe } from 'vitest';
import { MARIADB, POSTGRES, rowSuite } from '../rows/ground.ts';
import { intLock } from '../rows/tables.ts';

const CLOCK_SKEW_MS = 20;

describe.each([
  ['PostgreSQL', 6, POSTGRES],
  ['PostgreSQL', 7, POSTGRES],
  ['MariaDB', 6, MARIADB],
  ['MariaDB', 7, MARIADB],
] as const)('%s, version %i', (_, version, database) => {
  rowSuite(database, {
    table: { postgres: intLock('postgres', version), mysql: intLock('mysql', version) },
    open: (db) => springJdbcStore(db, { version, clockSkew: CLOCK_SKEW_MS }),
    slackMs: 2 * CLOCK_SKEW_MS + 5,
    whole: database === MARIADB && version === 7,
  });
});
