/**
 * Runs the tests of a file, and tells three ends apart that a time-out would mix up.
 *
 * Invariant: no test fails for lack of time. It hangs only if its process has had `HANG_MS` since
 * the last test ended, to compute or to wait in; what it waits for a processor does not count. And
 * in a timed project, where leases end on real clocks, a failure that only says that something came
 * too late is marked as void if the machine stood still for it: `late.ts` decides.
 */
import type { RunnerTask, RunnerTestCase, RunnerTestSuite, SerializedConfig } from 'vitest';
import { TestRunner } from 'vitest';
import { isVoid } from './late.ts';
import { ownMs, StallWitness } from './stalls.ts';
import { HANG_MS, PACE, shortest } from './this-run.ts';
import { TooLate } from './until.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The test or a hook has failed, and the machine is to blame: it counts for nothing. */
    void?: { readonly stoodStillMs: number };
  }
}

function told(stoodStillMs: number, leaseMs: number): string {
  return ` [stood still for ${stoodStillMs} ms at most, shortest lease ${leaseMs} ms]`;
}

/** A lease where no bed says how long its own are, in ms. */
const LEASE_MS = 400;

/** More than the patience of a single wait, so that one that ends in vain can say for what. */
const HUNG_MS = 1.1 * HANG_MS;
const HUNG = `it hangs: no test of this file has ended in ${HUNG_MS / 1000} s that it had`;

const { setInterval, clearInterval } = globalThis;

// biome-ignore lint/style/noDefaultExport: vitest asks for it.
export default class Runner extends TestRunner {
  readonly #timed: boolean;
  readonly #witness = new StallWitness();
  readonly #begun = new WeakMap<RunnerTask, number>();
  #progressAt = ownMs();

  constructor(config: SerializedConfig) {
    super(config);
    this.#timed = config.env.HOLDFAST_TIMED === '1';
  }

  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    this.#begun.set(suite, this.#witness.now);
    await super.onBeforeRunSuite(suite);
  }

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    this.#begun.set(test, this.#witness.now);
    await super.onBeforeRunTask(test);
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const began = ownMs();
    let watch: NodeJS.Timeout | undefined;
    const hung = new Promise<never>((_, reject) => {
      const look = (): void => {
        if (ownMs() - Math.max(began, this.#progressAt) > HUNG_MS) reject(new TooLate(HUNG));
      };
      watch = setInterval(look, HANG_MS / 100);
    });
    try {
      await Promise.race([TestRunner.getTestFn(test)(), hung]);
    } finally {
      clearInterval(watch);
      this.#progressAt = ownMs();
    }
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    this.#judge(suite);
  }

  override onAfterRunTask(test: RunnerTask): void {
    super.onAfterRunTask(test);
    this.#judge(test);
  }

  #judge(task: RunnerTask): void {
    const failures = task.result?.errors ?? [];
    if (!this.#timed || task.result?.state !== 'fail') return;
    const gapMs = this.#witness.longestSince(this.#begun.get(task) ?? 0);
    const leaseMs = shortest.ms ?? LEASE_MS * PACE;
    const stoodStillMs = Math.round(gapMs);
    if (isVoid({ failures, gapMs, leaseMs })) task.meta.void = { stoodStillMs };
    else if (failures[0]) failures[0].message += told(stoodStillMs, leaseMs);
  }
}
