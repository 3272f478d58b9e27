/** Where an example takes place: its folder, its store, and what is left when it ends: nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { killAll } from './crew.ts';
import * as screen from './screen.ts';

export interface Stage {
  /** For its databases. */
  readonly folder: string;
  /** The URL of the store of its locks. */
  readonly store: string;
  /** Keeps the names of its locks apart from those of other programs. */
  readonly prefix: string;
}

/** For an example of one process: the store that `--store URL` names, else SQLite. */
export function openStage(): Stage {
  const options = { store: { type: 'string' }, json: { type: 'boolean' } } as const;
  const { values } = parseArgs({ options, allowPositionals: true });
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-example-'));
  process.once('exit', () => {
    screen.close();
    killAll();
    // Those who were killed may take a moment to let go of their files.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => process.exit(128 + constants.signals[signal]));
  }
  const store = values.store ?? `sqlite:${join(folder, 'locks.db')}`;
  return { folder, store, prefix: `${basename(folder)}:` };
}

/** For an example of several processes. */
export function openSharedStage(): Stage {
  const stage = openStage();
  if (!stage.store.startsWith('memory:')) return stage;
  console.error('This example starts several processes, and memory: is known to one alone.');
  process.exit(1);
}
