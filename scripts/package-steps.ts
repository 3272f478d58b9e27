/**
 * Proves what users install: the tarball is built, linted, resolved the four ways that TypeScript
 * knows, installed in an empty folder, and used there in every style and on every runtime.
 */
import { checkContents, checkWeight } from './package/contents.ts';
import { entries, manifest } from './package/manifest.ts';
import { type Cell, runMatrix } from './package/matrix.ts';
import { Scratch } from './package/scratch.ts';
import { styleCells, typeCells } from './package/styles.ts';
import { fetchTools, type Tools } from './package/tools.ts';
import { PASSED, type Step, StepError } from './steps.ts';

const OTHERS = 'other runtimes';

export interface PackageOptions {
  /** Fetches other runtimes and compilers, and Jest; otherwise this Node has to do. */
  readonly fetch: boolean;
}

export function packageSteps({ fetch }: PackageOptions): readonly Step[] {
  let scratch: Scratch;
  let fetching: Promise<Tools | string | undefined>;
  const step = (name: string, act: () => Promise<unknown>): Step => ({
    name: `package: ${name}`,
    group: 'package',
    async run() {
      await act();
      return PASSED;
    },
  });
  const matrix = (name: string, cells: (tools: Tools | undefined) => readonly Cell[]): Step => ({
    ...step(name, async () => {}),
    live: true,
    async run() {
      const tools = await fetching;
      return await runMatrix(cells(typeof tools === 'string' ? undefined : tools));
    },
  });

  return [
    step('build', async () => {
      // Meanwhile, because the network is not the processor.
      fetching = fetch ? fetchTools().catch(reasonOf) : Promise.resolve(undefined);
      scratch = await Scratch.make();
      await scratch.pack();
    }),
    step('publint', () => scratch.run('publint', 'run', scratch.tarball, '--strict')),
    step('types resolve', () =>
      scratch.run('attw', scratch.tarball, '--no-definitely-typed', '--no-color'),
    ),
    step('install', () => scratch.install()),
    step('contents', () => checkContents(scratch)),
    step('weight', async () => checkWeight(scratch)),
    step('import and require', async () => {
      await scratch.run('node', 'load.mjs', ...(await entries()));
    }),
    step('command', () => checkCommand(scratch)),
    {
      ...step(OTHERS, async () => {}),
      async run() {
        const tools = await fetching;
        if (typeof tools !== 'string') return PASSED;
        return { passed: 0, failed: [], skipped: [{ test: OTHERS, reason: tools }] };
      },
    },
    matrix('each resolution', (tools) => typeCells(scratch, tools)),
    step('bundles and Jest', async () => {
      await scratch.bundle();
      const tools = await fetching;
      if (typeof tools === 'object') await scratch.configureJest(tools);
    }),
    matrix('each style and runtime', (tools) => styleCells(scratch, tools)),
  ];
}

/** The command that the package installs. */
async function checkCommand(scratch: Scratch): Promise<void> {
  const output = await scratch.run('npx', '--no-install', 'holdfast', '--version');
  const { version } = await manifest();
  // npm may have something to say before.
  if (output.trim().split('\n').at(-1) === version) return;
  throw new StepError(`holdfast --version says ${output}`);
}

function reasonOf(error: unknown): string {
  return error instanceof StepError ? error.message : String(error);
}
