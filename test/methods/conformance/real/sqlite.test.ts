/** On the clock of this machine, as programs use it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from 'holdfast/sqlite';
import { paced } from '../../../support/this-run.ts';
import { suite } from '../suite.ts';

suite({
  create({ maxWaiters = 10_000 }) {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-'));
    return {
      connect: () => sqliteStore(join(directory, 'locks.db'), { maxWaiters }),
      shortMs: paced(400),
      dispose: () => rmSync(directory, { recursive: true }),
    };
  },
  traits: sqliteStore('unopened.db').traits,
  lacks: ['raise'],
});
