/** Folders outside of the repository in which the tarball is used as users use it. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cp, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { MODULES } from '../../tsdown.config.ts';
import { ROOT, run } from '../steps.ts';
import type { Tools } from './tools.ts';

export const JEST_CONFIG = 'jest.config.json';

/** The options of a careful user; what they do not say is TypeScript's default. */
const STRICT = [
  ...['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--esModuleInterop'],
  ...['--target', 'es2022', '--types', 'node'],
];

/** Where sources are, because the ending decides what they are compiled to. */
const PLACES: readonly (readonly [folder: string, ending: string])[] = [
  ['node10', 'ts'],
  ['bundler', 'ts'],
  ['.', 'mts'],
  ['.', 'cts'],
];

export class Scratch {
  readonly #all: string = mkdtempSync(join(tmpdir(), 'holdfast-package-'));
  readonly folder: string = join(this.#all, 'project');
  readonly tarball: string = join(this.#all, 'holdfast.tgz');
  /** The package, where it is installed. */
  readonly installed: string = join(this.folder, 'node_modules/holdfast');
  /** Away from any package. */
  readonly alone: string = join(this.#all, 'alone');

  constructor() {
    process.once('exit', () => rmSync(this.#all, { recursive: true, force: true }));
    mkdirSync(this.folder);
    mkdirSync(this.alone);
  }

  /** Packs the project as it would be published. */
  async pack(): Promise<void> {
    await run(['npm', 'pack', '--pack-destination', this.#all]);
    const packed = (await readdir(this.#all)).find((name) => name.endsWith('.tgz')) ?? '';
    await rename(join(this.#all, packed), this.tarball);
  }

  /** Installs it, and lets it find the SQLite of Node 20, clients and types. */
  async install(): Promise<void> {
    await writeFile(join(this.folder, 'package.json'), '{ "private": true }\n');
    await this.run('npm', 'install', '--offline', '--no-audit', '--no-fund', this.tarball);
    await mkdir(join(this.folder, 'node_modules/@types'));
    const clients = ['ioredis', 'mysql2', 'pg', '@types/pg', 'redis'];
    for (const name of ['libsql', '@types/node', ...clients]) {
      const path = join('node_modules', name);
      await symlink(join(ROOT, path), join(this.folder, path));
    }
    const sources = join(ROOT, 'test/package');
    const program = join(sources, 'program.ts');
    await cp(sources, this.folder, { recursive: true });
    await cp(join(sources, 'testkit.mjs'), join(this.folder, 'testkit.test.mjs'));
    await cp(join(sources, 'jest-case.ts'), join(this.folder, 'jest-case.test.ts'));
    const exports = [...MODULES.keys()].map((name, n) => `export * as e${n} from '${name}';\n`);
    for (const [folder, ending] of PLACES) {
      await mkdir(join(this.folder, folder), { recursive: true });
      await cp(program, join(this.folder, folder, `program.${ending}`));
      await writeFile(join(this.folder, folder, `entries.${ending}`), exports.join(''));
    }
  }

  run(...command: readonly string[]): Promise<string> {
    return run(command, { cwd: this.folder });
  }

  /** Runs its command line where no other package is. */
  async runAlone(node: readonly string[], ...words: readonly string[]): Promise<string> {
    const copy = join(this.alone, 'holdfast');
    await cp(this.installed, copy, { recursive: true });
    return run([...node, join(copy, 'dist/cli.mjs'), ...words], { cwd: this.alone });
  }

  /** Compiles with the project's own TypeScript, or checks the types with another one. */
  async compile(options: readonly string[], compiler?: string): Promise<void> {
    const tsc = compiler
      ? [process.execPath, join(compiler, 'bin/tsc'), '--noEmit']
      : ['tsc', '--ignoreDeprecations', '6.0'];
    await this.run(...tsc, ...STRICT, ...options);
  }

  /** Bundles what was compiled, without any option on account of this package. */
  async bundle(): Promise<void> {
    for (const [from, to, format] of [
      ['program.cjs', 'program.cjs', 'cjs'],
      ['bundler/program.js', 'program.mjs', 'esm'],
    ] as const) {
      const [entryPoints, outfile] = [[join(this.folder, from)], join(this.alone, to)];
      await build({ entryPoints, outfile, format, bundle: true, platform: 'node' });
    }
  }

  async configureJest({ modules }: Tools): Promise<void> {
    const compilerOptions = {
      ...{ module: 'commonjs', moduleResolution: 'node10', target: 'es2022' },
      ...{ strict: true, esModuleInterop: true, types: ['node'] },
    };
    const transform = { '\\.ts$': [join(modules, 'ts-jest'), { tsconfig: compilerOptions }] };
    const config = {
      ...{ rootDir: this.folder, cacheDirectory: join(this.folder, '.jest'), transform },
      testMatch: ['<rootDir>/jest-case.test.ts'],
    };
    await writeFile(join(this.folder, JEST_CONFIG), JSON.stringify(config));
  }
}
