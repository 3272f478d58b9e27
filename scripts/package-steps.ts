/**
 * Proves what users install: the tarball is built, linted, resolved the four ways that TypeScript
 * knows, installed in an empty folder, and every entry of it is loaded and compiled against there.
 */
import { rmSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PASSED, ROOT, run, type Step } from './steps.ts';

const TARBALL = 'holdfast.tgz';

/** The strictest options that a user may have. */
const USER_OPTIONS = [
  ...['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--module', 'nodenext'],
  ...['--target', 'es2022', '--lib', 'es2022,esnext.disposable'],
  ...['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')],
];

export function packageSteps(): readonly Step[] {
  let folder = '';
  const step = (name: string, act: () => Promise<unknown>): Step => ({
    name: `package: ${name}`,
    group: 'package',
    async run() {
      await act();
      return PASSED;
    },
  });
  const program = (...command: string[]): Promise<string> => run(command, { cwd: folder });

  return [
    step('build', async () => {
      folder = await mkdtemp(join(tmpdir(), 'holdfast-package-'));
      process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
      await run(['npm', 'pack', '--pack-destination', folder]);
      const [tarball = TARBALL] = await readdir(folder);
      await rename(join(folder, tarball), join(folder, TARBALL));
    }),
    step('publint', () => program('publint', 'run', TARBALL, '--strict')),
    step('types resolve', () => program('attw', TARBALL, '--no-definitely-typed', '--no-color')),
    step('install', async () => {
      await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
      await program('npm', 'install', '--offline', '--no-audit', '--no-fund', `./${TARBALL}`);
    }),
    step('import and require', async () => {
      await copyFile(join(ROOT, 'test/package/load.mjs'), join(folder, 'load.mjs'));
      await program('node', 'load.mjs', ...(await entries()));
    }),
    step('types compile', async () => {
      const names = await entries();
      const lines = names.map((name, n) => `import * as e${n} from '${name}';\nvoid e${n};\n`);
      const files = ['consumer.mts', 'consumer.cts'];
      for (const file of files) await writeFile(join(folder, file), lines.join(''));
      await program('tsc', ...USER_OPTIONS, ...files);
    }),
  ];
}

/** The names under which the package's code is imported. */
async function entries(): Promise<string[]> {
  const { name, exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly exports: Readonly<Record<string, unknown>>;
  };
  const paths = Object.keys(exports).filter((path) => !path.endsWith('.json'));
  return paths.map((path) => name + path.slice(1));
}
