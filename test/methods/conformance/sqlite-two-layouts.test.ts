/**
 * In the middle of a rolling deploy: this version and a next one, whose layout adds columns, tables
 * and an index, take turns at one file, verb by verb and by chance. Whichever comes first creates
 * it, and the next version brings it up to its own layout while this one is using it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { conformance, simulatedClock } from 'holdfast/testkit';
import { test } from 'vitest';
import { storeWith } from '../../stores/sqlite/children/store-with.ts';
import { NEXT_LAYOUTS } from '../../stores/sqlite/next-layout.ts';
import { takingTurns } from './taking-turns.ts';

let fixtures = 0;

conformance({
  test: test.concurrent,
  skip: (name, reason) => test.concurrent(name, (context) => context.skip(reason)),
  create({ maxWaiters = 10_000 }) {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-'));
    const { random } = simulatedClock(++fixtures);
    const open = (parts = {}): Store =>
      storeWith(join(directory, 'locks.db'), { maxWaiters, ...parts });
    return {
      connect: () => takingTurns([open(), open({ layouts: NEXT_LAYOUTS })], random),
      dispose: () => rmSync(directory, { recursive: true }),
    };
  },
  traits: sqliteStore('unopened.db').traits,
  lacks: ['raise'],
});
