/**
 * In the middle of a rolling deploy: this version and a next one, whose layout adds columns, tables
 * and an index, take turns at one file, verb by verb and by chance. Whichever comes first creates
 * it, and the next version brings it up to its own layout while this one is using it.
 */
import { NEXT_LAYOUTS } from '../../stores/sqlite/next-layout.ts';
import { OF_CLIENT_UNLESS_WHOLE } from './of-client.ts';
import { sqliteSuite } from './sqlite.ts';
import { takingTurns } from './taking-turns.ts';

sqliteSuite(
  (open, { random }) => takingTurns([open(), open({ layouts: NEXT_LAYOUTS })], random),
  OF_CLIENT_UNLESS_WHOLE,
);
