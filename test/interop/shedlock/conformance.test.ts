import { createHash } from 'node:crypto';
import { shedlockJdbcStore } from 'holdfast/shedlock';
import { describe } from 'vitest';
import { DATABASES, rowSuite } from '../rows/ground.ts';
import { SHEDLOCK } from '../rows/tables.ts';

/** The suite has longer names than the table, and compares them as MySQL's collations do not. */
const name = (long: string): string => createHash('sha256').update(long).digest('hex');

describe.each(DATABASES)('%s', (product, database) => {
  rowSuite(database, {
    table: SHEDLOCK,
    open: (db) => shedlockJdbcStore(db, { name }),
    slackMs: 5,
    whole: product === 'PostgreSQL with pg',
  });
});
