import { join, relative } from 'node:path';
import ts from 'typescript';
import { PROJECTS } from '../../../scripts/types/compiler.ts';
import bundler from '../../../tsdown.config.ts';
import { filesOf, ROOT, type Tree } from './tree.ts';

export interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly typesVersions: { readonly '*': Readonly<Record<string, readonly string[]>> };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Programs are built as ESM only, beside what both builds have. */
const { esm: ESM } = bundler.format as unknown as {
  readonly esm: { readonly entry: Readonly<Record<string, string>> };
};

export function manifestOf(tree: Tree): Manifest {
  return JSON.parse(tree.get('package.json') ?? '{}') as Manifest;
}

/** What is exported is what is built, and what tests and examples see under the same name. */
export function entryProblems(tree: Tree): string[] {
  const { exports, bin, typesVersions, dependencies = {} } = manifestOf(tree);
  const problems = Object.keys(dependencies).map((other) => `package.json depends on ${other}`);
  const sources = bundler.entry as Readonly<Record<string, string>>;

  for (const [entry, source] of Object.entries(sources)) {
    const path = entry === 'index' ? '.' : `./${entry}`;
    if (!tree.has(source)) problems.push(`tsconfig.json names ${source}, which is not there`);
    if (JSON.stringify(exports[path]) !== JSON.stringify(exportOf(entry))) {
      problems.push(
        `package.json: exports['${path}'] should be ${JSON.stringify(exportOf(entry))}`,
      );
    }
    if (path !== '.' && typesVersions['*'][entry]?.[0] !== `./dist/${entry}.d.cts`) {
      problems.push(`package.json: typesVersions['*'].${entry} should be ./dist/${entry}.d.cts`);
    }
  }
  const programs = new Set(Object.keys(ESM.entry).filter((entry) => !(entry in sources)));
  for (const [program, file] of Object.entries(bin)) {
    const [, entry = ''] = /^\.\/dist\/(.+)\.mjs$/.exec(file) ?? [];
    if (!programs.delete(entry)) problems.push(`the program ${program} is ${file}: not built`);
  }
  for (const entry of programs) problems.push(`package.json: no program is ./dist/${entry}.mjs`);
  const built = Object.keys(sources).length;
  const exported = Object.keys(exports).filter((path) => path !== './package.json').length;
  if (built !== exported) problems.push(`${exported} entries are exported, ${built} are built`);
  return problems;
}

function exportOf(entry: string): unknown {
  const file = `./dist/${entry}`;
  return {
    import: { types: `${file}.d.mts`, default: `${file}.mjs` },
    require: { types: `${file}.d.cts`, default: `${file}.cjs` },
  };
}

/** Code that is in none of the programs whose types are checked. */
export function uncheckedProblems(tree: Tree): string[] {
  const checked = new Set(PROJECTS.flatMap(filesOfProject));
  return filesOf(tree, /^(?!docs\/).*\.(ts|tsx|mts|cts)$/)
    .filter(([path]) => !checked.has(path))
    .map(([path]) => `${path} is in no tsconfig.json of scripts/types`);
}

function filesOfProject(project: string): string[] {
  const folder = join(ROOT, project);
  const { config } = ts.readConfigFile(join(folder, 'tsconfig.json'), ts.sys.readFile);
  const { fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  return fileNames.map((file) => relative(ROOT, file));
}

/** A lock file with which `npm ci` fails on other systems, or that names a registry. */
export function lockFileProblems(tree: Tree): string[] {
  const { packages = {} } = JSON.parse(tree.get('package-lock.json') ?? '{}') as {
    readonly packages?: Readonly<Record<string, LockedPackage>>;
  };
  const problems: string[] = [];
  for (const [path, { resolved, optionalDependencies = {} }] of Object.entries(packages)) {
    if (resolved !== undefined) problems.push(`package-lock.json: ${path} is tied to ${resolved}`);
    for (const name of Object.keys(optionalDependencies)) {
      const locked = packages[`node_modules/${name}`] ?? packages[`${path}/node_modules/${name}`];
      if (!locked) problems.push(`package-lock.json: ${name}, which ${path} may need, is missing`);
    }
  }
  return problems;
}

interface LockedPackage {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
