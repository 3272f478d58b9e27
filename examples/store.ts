/** Where the examples keep their locks: the store whose URL is the first argument, else SQLite. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from 'holdfast';
import { openStore } from 'holdfast/connect';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-example-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

export const store: Store = await openStore(
  process.argv[2] ?? `sqlite:${join(folder, 'locks.db')}`,
);
