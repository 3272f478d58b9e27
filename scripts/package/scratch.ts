/** Folders outside of the repository in which the tarball is used as users use it. */
import { rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, run } from '../steps.ts';
import { entries } from './manifest.ts';
import type { Tools } from './tools.ts';

const TARBALL = 'holdfast.tgz';
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
  readonly folder: string;
  readonly tarball: string;
  /** The package, where it is installed. */
  readonly installed: string;
  /** Away from any package. */
  readonly alone: string;

  constructor(folder: string) {
    this.folder = join(folder, 'project');
    this.alone = join(folder, 'alone');
    this.tarball = join(folder, TARBALL);
    this.installed = join(this.folder, 'node_modules/holdfast');
  }

  static async make(): Promise<Scratch> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-package-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    const scratch = new Scratch(folder);
    await mkdir(scratch.folder);
    await mkdir(scratch.alone);
    return scratch;
  }

  /** Packs the project as it would be published. */
  async pack(): Promise<void> {
    const folder = join(this.tarball, '..');
    await run(['npm', 'pack', '--pack-destination', folder]);
    const packed = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '';
    await rename(join(folder, packed), this.tarball);
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
    const all = (await entries()).map((name, n) => `export * as e${n} from '${name}';\n`).join('');
    for (const [folder, ending] of PLACES) {
      await mkdir(join(this.folder, folder), { recursive: true });
      await cp(program, join(this.folder, folder, `program.${ending}`));
      await writeFile(join(this.folder, folder, `entries.${ending}`), all);
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
    if (!compiler) await this.run('tsc', ...STRICT, ...options, '--ignoreDeprecations', '6.0');
    else {
      const tsc = join(compiler, 'bin/tsc');
      await this.run(process.execPath, tsc, ...STRICT, ...options, '--noEmit');
    }
  }

  /** Bundles what was compiled, without any option on account of this package. */
  async bundle(): Promise<void> {
    const esbuild = createRequire(import.meta.url).resolve('esbuild/bin/esbuild');
    const options = ['--bundle', '--platform=node'];
    for (const [from, to, format] of [
      ['program.cjs', 'program.cjs', 'cjs'],
      ['bundler/program.js', 'program.mjs', 'esm'],
    ]) {
      const output = [`--format=${format}`, `--outfile=${join(this.alone, to ?? '')}`];
      // Where install scripts run, it is no script any more: so it is started as it is.
      await this.run(esbuild, from ?? '', ...options, ...output);
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
