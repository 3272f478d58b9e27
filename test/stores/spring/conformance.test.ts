import { springJdbcStore } from 'holdfast/spring';
import { describe } from 'vitest';
import { DATABASES, rowSuite } from '../rows/ground.ts';
import { intLock } from '../rows/tables.ts';

const CLOCK_SKEW_MS = 20;

describe.each([6, 7] as const)('version %i', (version) => {
  describe.each(DATABASES)('%s', (_, database) => {
    rowSuite(database, {
      table: { postgres: intLock('postgres', version), mysql: intLock('mysql', version) },
      open: (db) => springJdbcStore(db, { version, clockSkew: CLOCK_SKEW_MS }),
      slackMs: 2 * CLOCK_SKEW_MS + 5,
    });
  });
});
