/** Processes beside that of a figure, which talk to it over the channel of `fork`. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(import.meta.url);

/**
 * Calls what the module exports by this name, in a process of its own; one that fails ends the
 * figure.
 */
export function call(module: string, name: string, options: object = {}): ChildProcess {
  const file = join(HERE, '../..', `call${extname(HERE)}`);
  const child = fork(file, [module, name, JSON.stringify(options)], { stdio: 'inherit' });
  return child.once('exit', (code) => code && process.exit(code));
}

const folders: string[] = [];

/** An empty folder that is gone when this process ends. */
export function scratchFolder(): string {
  if (folders.length === 0) process.once('exit', removeFolders);
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  folders.push(folder);
  return folder;
}

function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** In ns of the machine's monotonic clock, which all its processes share. */
export function now(): number {
  return Number(process.hrtime.bigint());
}
