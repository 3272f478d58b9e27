import { join } from 'node:path';
import ts from 'typescript';
import { HANG_MS } from '../../test/support/this-run.ts';
import { once, run, StepError } from '../steps.ts';
import { JEST_CONFIG, type Scratch } from './scratch.ts';
import { type Runtime, type Tools, TYPESCRIPT, thisNode } from './tools.ts';

/** What is tried, one thing in each combination. */
export interface Cell {
  readonly name: string;
  /** Why it is not promised, and not tried. */
  readonly gap?: string | undefined;
  /** What to know of a passed one. */
  readonly note?: string | undefined;
  run(): Promise<unknown>;
}

/** Fewer tests than this are a failure: the suite has many more. */
const LEAST_TESTS = 150;

/** A way in which programs take the package in. */
interface Style {
  readonly name: string;
  /** Why it is not promised there; undefined if it is. */
  gap?(runtime: Runtime): string | undefined;
  /** Why it is tried there without SQLite; undefined if it is not. */
  withoutSqlite?(runtime: Runtime): string | undefined;
  /** `store` is a file, or `memory`. */
  command(runtime: Runtime, store: string): readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What is printed when it passes: its group is the store, or the number of tests. */
  readonly passes: RegExp;
}

/** Every style on every runtime. */
export function styleCells(scratch: Scratch, tools: Tools | undefined): Cell[] {
  const runtimes = tools?.runtimes ?? [thisNode()];
  const pairs = styles(scratch, tools).flatMap((style) =>
    runtimes.map((runtime) => [style, runtime] as const),
  );
  return pairs.map(([style, runtime], n): Cell => {
    const lack = style.withoutSqlite?.(runtime);
    const store = lack ? 'memory' : join(scratch.folder, `${n}.db`);
    return {
      name: `${style.name}, ${runtime.name}`,
      gap: style.gap?.(runtime),
      note: lack && `in memory: ${lack}`,
      run: () => tryStyle(style, style.command(runtime, store), scratch.folder),
    };
  });
}

/** The ways in which TypeScript finds the types of a package; one run compiles both of node16. */
const RESOLUTIONS = [
  [['node10'], '--module', 'commonjs', '--moduleResolution', 'node10', ...sources('node10')],
  [['node16, CommonJS', 'node16, ESM'], '--module', 'node16', ...sources('.')],
  [['bundler'], '--module', 'esnext', '--moduleResolution', 'bundler', ...sources('bundler')],
] as const;

/** The program and all entries in every resolution. The project's own compiler also writes it. */
export function typeCells(scratch: Scratch, tools: Tools | undefined): Cell[] {
  const own = [ts.version, undefined] as const;
  const compilers = tools ? [[TYPESCRIPT, tools.typescript] as const, own] : [own];
  return RESOLUTIONS.flatMap(([rows, ...options]) =>
    compilers.flatMap(([version, compiler]) => {
      const run = once(() => scratch.compile(options, compiler));
      return rows.map((row) => ({ name: `${row}, TypeScript ${version}`, run }));
    }),
  );
}

async function tryStyle(style: Style, command: readonly string[], cwd: string): Promise<void> {
  // Some write in colors, which are of no use here.
  const env = { NO_COLOR: '1', ...style.env };
  const output = await run(command, { cwd, env, timeoutMs: HANG_MS });
  const [, found] = style.passes.exec(output) ?? [];
  const store = command.at(-1) === 'memory' ? 'memory' : 'sqlite';
  if (found === store || Number(found) >= LEAST_TESTS) return;
  throw new StepError(`${output}\n${command.join(' ')} did not say that it passed.`);
}

function styles(scratch: Scratch, tools: Tools | undefined): Style[] {
  const passes = /^passed on (memory|sqlite)$/m;
  const inProject = (name: string): Pick<Style, 'command' | 'passes'> => ({
    command: ({ run }, store) => [...run, join(scratch.folder, name), store],
    passes,
  });
  const alone = (name: string): Pick<Style, 'command' | 'passes' | 'withoutSqlite'> => ({
    withoutSqlite: ({ sqlite }) =>
      sqlite ? undefined : 'SQLite of Node 20 is libsql, native code, which no bundle holds',
    command: ({ run }, store) => [...run, join(scratch.alone, name), store],
    passes,
  });
  const newest = tools?.runtimes.findLast(({ kind }) => kind === 'node');
  // Each shares its file with the newest Node.
  const beside = newest && JSON.stringify([...newest.run, join(scratch.folder, 'program.mjs')]);
  const env = beside ? { BESIDE: beside } : {};
  return [
    { name: 'ESM, `import`', ...inProject('program.mjs'), env },
    { name: 'CommonJS, `require`', ...inProject('program.cjs'), env },
    { name: 'both in one process', ...inProject('copies.mjs') },
    {
      name: 'TypeScript as it is',
      ...inProject('program.mts'),
      gap: ({ typescript }) =>
        typescript ? undefined : 'only Node 24 and newer run `await using` in TypeScript',
    },
    { name: 'bundled to CommonJS', ...alone('program.cjs') },
    { name: 'bundled to ESM', ...alone('program.mjs') },
    {
      name: 'testkit, `node:test`',
      command: ({ test }) => [...test, './testkit.test.mjs'],
      passes: /(?<=[#ℹ] pass |^ |\| )(\d+)(?= pass|$)/m,
    },
    ...(tools ? [jest(tools)] : []),
    {
      name: 'command line',
      command: ({ run }, store) => [
        ...[...run, join(scratch.installed, 'dist/cli.mjs')],
        ...['run', 'job', '--store', `sqlite:${store}`, '--', 'echo', 'passed on sqlite'],
      ],
      passes,
    },
  ];
}

function jest({ modules }: Tools): Style {
  return {
    name: 'ts-jest, CommonJS',
    gap: ({ kind }) => (kind === 'node' ? undefined : 'Jest is a program for Node'),
    command: ({ run }) => [...run, join(modules, 'jest/bin/jest.js'), `--config=${JEST_CONFIG}`],
    passes: /^Tests: +(\d+) passed, \1 total$/m,
  };
}

function sources(folder: string): string[] {
  const endings = folder === '.' ? ['mts', 'cts'] : ['ts'];
  return endings.flatMap((ending) => [
    `${folder}/program.${ending}`,
    `${folder}/entries.${ending}`,
  ]);
}
