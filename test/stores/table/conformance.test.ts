import { tableSchema, tableStore } from 'holdfast/table';
import { describe } from 'vitest';
import { ground, MYSQL, POSTGRES } from '../../interop/rows/ground.ts';
import { documentConformance } from '../document/conformance.ts';

/** All programs share a pool: what they do at once are statements of their own. */
describe.each([
  ['PostgreSQL', POSTGRES, true],
  ['MySQL', MYSQL, false],
] as const)('%s', (_, database, whole) => {
  const unused = database.pool(`${database.dialect}://unused`);
  documentConformance({
    why: undefined,
    start: () => ground(database, tableSchema(database.dialect)),
    store: ({ db }, options) => tableStore(db, options),
    slackMs: 1000,
    whole,
    traits: tableStore(unused.db).traits,
  });
});
