/**
 * A copy of the project in which faults are planted, one at a time, and what may notice them.
 *
 * The test runner stays warm from fault to fault, which is what makes a hundred of them affordable.
 * Nothing else would differ: a fault is a change of a file, which is loaded anew, and processes
 * that a test starts run from the copy as well.
 */
import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';
import { createVitest } from 'vitest/node';
import { serverFolder } from '../../servers/server-process.ts';
import { TOO_LATE } from '../../support/late.ts';
import type {} from '../../support/runner.ts';
import { ROOT } from '../tidy/tree.ts';
import { type Fault, type Notice, plant } from './fault.ts';
import type { Planted } from './noticing.ts';

/** Longest time of a run, in ms. What a simulation does not find by then it does not find. */
const LIMIT_MS = 600_000;

/** With a fault, what has not come about after so long will never, in ms. */
const HANG_MS = 40_000;

/** So often a run in which the machine stood still, and which says nothing, is made again. */
const AGAIN = 3;

/**
 * All seeds and kinds, in the same course each time, with child processes that have the fault, too.
 * Workers, child processes and the configuration see it.
 */
const ENVIRONMENT = { HOLDFAST_WHOLE: '1', HOLDFAST_RUN: '1', HOLDFAST_FROM_SOURCES: '1' };

/** Whose tests hold locks that end on real clocks. */
const TIMED = ['real clock', 'processes', 'examples', 'servers', 'sharing', 'kubernetes'];

/** What looks at the text of the sources would notice any change. */
const LEFT_OUT = /\/test\/methods\/(teeth|tidy)/;
const FOLDERS = ['src', 'test', 'scripts', 'docs'];
const TAKEN = [...FOLDERS, 'package.json', 'tsconfig.json', 'vitest.config.ts'];

const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export class Trial implements Planted {
  readonly #folder = newFolder('holdfast-teeth-');
  /** Of the tests. What a failure cuts short does not tidy up, and a database takes 130 MB. */
  readonly #temporary = newFolder('holdfast-trial-');
  #vitest: Vitest | undefined;
  #results = new Results();

  /** Copies the project and starts the test runner. */
  static async open(): Promise<Trial> {
    const trial = new Trial();
    const root = trial.#folder;
    Object.assign(process.env, ENVIRONMENT);
    trial.#vitest = await createVitest('test', {
      ...{ root, config: join(root, 'vitest.config.ts'), watch: false, cache: false },
      ...{ fileParallelism: false, isolate: false },
      reporters: [
        {
          onTestCaseResult: (test) => trial.#see(test),
          onTestModuleEnd: (module) => trial.#results.file(module),
        },
      ],
      env: { TSX_TSCONFIG_PATH: join(root, 'tsconfig.json'), TMPDIR: trial.#temporary },
    });
    return trial;
  }

  private constructor() {
    const filter = (path: string): boolean => !LEFT_OUT.test(path);
    for (const name of TAKEN) {
      cpSync(join(ROOT, name), join(this.#folder, name), { recursive: true, filter });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(this.#folder, 'node_modules'));
  }

  async close(): Promise<void> {
    await this.#vitest?.close();
  }

  /** Does something to the project with this fault, then takes the fault out again. */
  async with<T>(fault: Fault, act: () => Promise<T>): Promise<T> {
    const path = join(this.#folder, fault.file);
    const sound = readFileSync(path, 'utf8');
    const write = (text: string): void => {
      writeFileSync(path, text);
      this.#vitest?.invalidateFile(path);
    };
    write(plant(sound, fault));
    const isPatient = this.#tell({ HOLDFAST_HANG_MS: `${HANG_MS}` });
    try {
      return await act();
    } finally {
      isPatient();
      write(sound);
      empty(this.#temporary);
    }
  }

  /** What of this fails now; undefined if all of it passes. */
  async fails(notices: readonly Notice[]): Promise<Notice | undefined> {
    const seeds = notices.flatMap(({ seed }) => seed ?? []);
    // A change of the simulation changes which seed it is, but hardly how many it takes.
    const runs = 10 * Math.max(...seeds) + 100;
    const failed = seeds.length > 0 ? await this.#simulate(runs) : undefined;
    if (failed) return failed;
    const files = new Set(notices.flatMap(({ file }) => file ?? []));
    const tests = new Set(notices.flatMap(({ test }) => test ?? []));
    return this.#test([...files], tests);
  }

  /** What tests and the processes that they start see from now on; returns what ends that. */
  #tell(more: Readonly<Record<string, string>>): () => void {
    const configs = (this.#vitest?.projects ?? []).map(({ config }) => config);
    const before = configs.map(({ env, hookTimeout, expect }) => ({ env, hookTimeout, expect }));
    const hangMs = Number(more.HOLDFAST_HANG_MS ?? configs[0]?.hookTimeout);
    for (const config of configs) {
      config.env = { ...config.env, ...more };
      config.hookTimeout = hangMs;
      config.expect = { ...config.expect, poll: { ...config.expect.poll, timeout: hangMs } };
    }
    return () => configs.forEach((config, i) => Object.assign(config, before[i]));
  }

  /** The first failure is enough; `bail` would stop before that one is told. */
  #see(test: TestCase): void {
    this.#results.test(test);
    if (this.#results.failed) void this.#vitest?.cancelCurrentRun('test-failure');
  }

  async #simulate(runs: number): Promise<Notice | undefined> {
    const args = ['--import', 'tsx', 'scripts/sim.ts', `--runs=${runs}`];
    const limits = { timeout: LIMIT_MS, killSignal: 'SIGKILL' } as const;
    try {
      await promisify(execFile)(process.execPath, args, { cwd: this.#folder, ...limits });
      return undefined;
    } catch (error) {
      const { stdout = '', killed } = error as { stdout?: string; killed?: boolean };
      const failed = /^seed (\d+):/m.exec(stdout)?.[1];
      if (failed !== undefined) return { seed: Number(failed) };
      // With few seeds, or with a fault, some of what should happen may not.
      if (killed || stdout.includes('never reached:')) return undefined;
      throw error;
    }
  }

  async #test(files: readonly string[], only: ReadonlySet<string>): Promise<Notice | undefined> {
    const specs = files.flatMap((file) => this.#specifications(file, only));
    if (!this.#vitest || specs.length === 0) return undefined;
    const pace = Number(process.env.HOLDFAST_PACE ?? 1);
    for (let i = 0; i <= AGAIN; i += 1) {
      const results = new Results();
      this.#results = results;
      const asBefore = this.#tell(i > 0 ? { HOLDFAST_PACE: `${pace * 2 ** i}` } : {});
      const running = this.#vitest.runTestSpecifications(specs);
      const { unhandledErrors } = await inTime(running, files).finally(asBefore);
      const { failed, isVoid, passed } = results;
      if (failed) return { ...failed, file: relative(this.#folder, failed.file) };
      if (isVoid) continue;
      if (unhandledErrors.length > 0) return { file: files[0] ?? '' };
      const gone = [...only].find((test) => !passed.has(test));
      if (gone) throw new Error(`There is no test '${gone}' in ${files.join(' ')} any more.`);
      return undefined;
    }
    throw new Error(`This machine stood still each time in ${files.join(' ')}.`);
  }

  #specifications(file: string, only: ReadonlySet<string>): TestSpecification[] {
    const path = join(this.#folder, file);
    const options = only.size > 0 ? { testNamePattern: anyOf(only) } : {};
    return (this.#vitest?.projects ?? [])
      .filter((project) => project.matchesTestGlob(path))
      .map((project) => {
        // A thread starts a fifth cheaper; what counts on real clocks has a process of its own.
        const pool = TIMED.includes(project.name) ? 'forks' : 'threads';
        return project.createSpecification(path, options, pool);
      });
  }
}

/** Of one run. */
class Results {
  readonly passed = new Set<string>();
  failed: (Notice & { readonly file: string }) | undefined;
  /** Something failed, and only because it came too late on a machine that stood still. */
  isVoid = false;

  test(test: TestCase): void {
    const { fullName, module } = test;
    const { state } = test.result();
    if (state === 'passed') this.passed.add(fullName);
    if (state !== 'failed') return;
    if (test.meta().void) {
      this.isVoid = true;
      return;
    }
    const tooLate = test.result().errors?.some(({ name }) => name === TOO_LATE);
    const hung = tooLate || (test.diagnostic()?.duration ?? 0) > HANG_MS;
    this.failed ??= { file: module.moduleId, test: fullName, ...(hung && { hung }) };
  }

  /** A file that cannot be loaded has no tests. */
  file(module: TestModule): void {
    const all = [module, ...module.children.allSuites()];
    this.isVoid ||= all.some((each) => each.meta().void !== undefined);
    if (!module.ok() && !this.isVoid) this.failed ??= { file: module.moduleId };
  }
}

function newFolder(prefix: string): string {
  const folder = serverFolder(join(tmpdir(), prefix));
  folders.push(folder);
  return folder;
}

/** As far as nothing that is just ending writes to it. */
function empty(folder: string): void {
  for (const name of readdirSync(folder)) {
    rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Patterns see the names of a test and its groups with nothing but a space between them. */
function anyOf(fullNames: ReadonlySet<string>): RegExp {
  const patterns = [...fullNames].map((name) =>
    name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' > ', '( >)? '),
  );
  return new RegExp(`^(${patterns.join('|')})$`);
}

/** A fault that makes everything hang is noticed, but it would keep us from all others. */
async function inTime<T>(answer: Promise<T>, files: readonly string[]): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const hung = new Error(`${files.join(' ')} did not end within ${LIMIT_MS / 1000} s.`);
    timer = setTimeout(() => reject(hung), LIMIT_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
