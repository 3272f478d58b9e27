import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from 'holdfast/sqlite';
import { conformance } from 'holdfast/testkit';
import { test } from 'vitest';

conformance({
  test: test.concurrent,
  skip: (name, reason) => test.concurrent(name, (context) => context.skip(reason)),
  create({ maxWaiters }) {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-'));
    return {
      connect: () => sqliteStore(join(directory, 'locks.db'), maxWaiters ? { maxWaiters } : {}),
      dispose: () => rmSync(directory, { recursive: true }),
    };
  },
  traits: sqliteStore('unopened.db').traits,
  lacks: ['raise'],
});
