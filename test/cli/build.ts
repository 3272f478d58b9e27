/** Builds the command line once for all its tests, as users get it, into a folder of its own. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly cli: string;
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let folder = '';

export function setup(project: TestProject): void {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'));
  const home = join(folder, 'node_modules/holdfast');
  mkdirSync(home, { recursive: true });
  copyFileSync(join(ROOT, 'package.json'), join(home, 'package.json'));
  for (const client of ['libsql', 'ioredis', 'mongodb', 'pg']) {
    symlinkSync(join(ROOT, 'node_modules', client), join(folder, 'node_modules', client));
  }
  const tsdown = join(ROOT, 'node_modules/tsdown/dist/run.mjs');
  const options = ['--no-dts', '--log-level', 'warn', '--out-dir', join(home, 'dist')];
  execFileSync(process.execPath, [tsdown, ...options], { cwd: ROOT, stdio: 'pipe' });
  project.provide('cli', join(home, 'dist/cli.mjs'));
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}
