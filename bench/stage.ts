/**
 * Figures measure what users install: the package is built into a folder of its own, where the
 * compiled bench scripts import it by its name and run under plain node. Run from source through
 * a loader they would measure the loader too, which wraps every function to keep its name.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../scripts/steps.ts';
import { scratchFolder } from './measuring/processes.ts';

const COMPILER_OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
};

/** Builds, and returns the folder with the scripts; it is gone when this process ends. */
export function stage(): string {
  const folder = scratchFolder();
  const home = join(folder, 'node_modules/holdfast');
  mkdirSync(home, { recursive: true });
  copyFileSync(join(ROOT, 'package.json'), join(home, 'package.json'));
  const tsdown = join(ROOT, 'node_modules/tsdown/dist/run.mjs');
  const build = [tsdown, '--no-dts', '--log-level', 'warn', '--out-dir', join(home, 'dist')];
  execFileSync(process.execPath, build, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  const packages = join(ROOT, 'node_modules');
  for (const name of readdirSync(packages)) {
    if (name !== 'holdfast') symlinkSync(join(packages, name), join(folder, 'node_modules', name));
  }
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  const scripts = join(ROOT, 'bench');
  for (const file of readdirSync(scripts, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.d.ts')) continue;
    const source = readFileSync(join(scripts, file), 'utf8');
    const compiled = join(folder, file.replace(/ts$/, 'js'));
    mkdirSync(dirname(compiled), { recursive: true });
    writeFileSync(compiled, ts.transpile(source, COMPILER_OPTIONS, file));
  }
  return folder;
}
