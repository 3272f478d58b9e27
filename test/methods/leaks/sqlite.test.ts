import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from 'holdfast/sqlite';
import { leakTests } from './leaks.ts';

leakTests('SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-leaks-'));
  const file = join(folder, 'locks.db');
  return {
    open: () => sqliteStore(file),
    ...{ url: `sqlite:${file}`, connects: 1000 },
    close: () => rmSync(folder, { recursive: true }),
  };
});
