import fs from 'node:fs';
import { systemClock } from '../../../../src/base/clock.ts';
import { thisMachine } from '../../../../src/clients/sqlite/machine.ts';
import { LAYOUTS } from '../../../../src/stores/sqlite/schema.ts';
import { type SqliteParts, SqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts';

/** A store with parts that users cannot choose. */
export function storeWith(file: string, parts: Partial<SqliteParts> = {}): SqliteStore {
  return new SqliteStore({
    file,
    maxWaiters: 10_000,
    front: 16,
    busyMs: 5_000,
    trustFileSystem: false,
    machine: thisMachine,
    layouts: LAYOUTS,
    watchFile: fs.watch,
    clock: systemClock(),
    ...parts,
  });
}
