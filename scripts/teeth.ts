/**
 * `npm run teeth -- [words]`: plants each fault of test/methods/teeth, or those with one of the
 * words in their names, and runs the test or the seeds that the fault names. Fails if they do not
 * notice the fault, or fail with none planted, or if no fault has such a name.
 *
 * Nothing is remembered from run to run, and nothing is asked again until it gives the answer that
 * one wants.
 */
import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';
import { FAULTS } from '../test/methods/teeth/catalogue.ts';
import type { Fault, Notice } from '../test/methods/teeth/fault.ts';
import { inTrials } from '../test/methods/teeth/in-trials.ts';
import { notices } from '../test/methods/teeth/noticing.ts';
import type { Trial } from '../test/methods/teeth/trial.ts';

/** What may be wrong: answers the complaint. */
interface Look {
  readonly name: string;
  run(trial: Trial): Promise<string | undefined>;
}

/**
 * Most tests on servers wait more than they work: so many copies of the project a core. What hangs
 * only waits until it is given up, so that it has copies of its own, whatever the cores do.
 */
const COPIES_A_CORE = 3;
const COPIES_FOR_HANGS = 3;

/** On a terminal, its last line says how far it is. */
class Progress {
  readonly #all: number;
  readonly #times: { readonly name: string; readonly ms: number }[] = [];
  readonly #begin = performance.now();
  #failed = 0;

  constructor(all: number) {
    this.#all = all;
  }

  async during({ name, run }: Look, trial: Trial): Promise<void> {
    const begin = performance.now();
    const complaint = await run(trial).catch((error) => `${name}: ${error}`);
    this.#times.push({ name, ms: performance.now() - begin });
    if (complaint) this.#fail(complaint);
    this.#draw();
  }

  end(): boolean {
    const slowest = this.#times.sort((a, b) => b.ms - a.ms).slice(0, 5);
    const lines = slowest.map(
      ({ name, ms }) => `  ${(ms / 1000).toFixed(1).padStart(6)} s ${name}`,
    );
    this.#write(`The slowest:\n${lines.join('\n')}\n`);
    this.#write(`${this.#times.length - this.#failed} passed, ${this.#failed} failed\n`);
    return this.#failed === 0 && this.#times.length > 0;
  }

  #fail(complaint: string): void {
    this.#failed += 1;
    this.#write(`✗ ${complaint}\n`);
  }

  #draw(): void {
    if (!process.stdout.isTTY) return;
    const done = this.#times.length;
    const left = ((performance.now() - this.#begin) / done) * (this.#all - done);
    const minutes = Math.ceil(left / 60_000);
    this.#write(`  ${done} of ${this.#all}, ${this.#failed} failed, about ${minutes} min left`);
  }

  #write(text: string): void {
    process.stdout.write(process.stdout.isTTY ? `\r\u001b[K${text}` : text);
  }
}

const words = process.argv.slice(2);
const chosen = FAULTS.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
);
const groups = byFile(chosen);
const progress = new Progress(groups.length + chosen.length);
await Promise.all([
  inTrials(groups.filter(hangs), COPIES_FOR_HANGS, look),
  inTrials(
    groups.filter((group) => !hangs(group)),
    COPIES_A_CORE * availableParallelism(),
    look,
  ),
]);
process.exit(progress.end() ? 0 : 1);

/** Tests that fail anyway would notice everything. */
async function look(trial: Trial, group: readonly Fault[]): Promise<void> {
  const known = group.map(({ by }) => by);
  for (const each of [soundness(known), ...group.map(noticing)]) {
    await progress.during(each, trial);
  }
}

/**
 * What one file notices goes into one copy, which has loaded it then; but not what hangs, while
 * all else would wait. The largest first, so that no copy is left alone with them at the end.
 */
function byFile(faults: readonly Fault[]): Fault[][] {
  const groups = new Map<string, Fault[]>();
  for (const fault of faults) {
    const key = `${fault.by.file} ${fault.by.hung}`;
    groups.set(key, [...(groups.get(key) ?? []), fault]);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

function hangs(group: readonly Fault[]): boolean {
  return group.some(({ by }) => by.hung);
}

function soundness(known: readonly Notice[]): Look {
  return {
    name: `sound: ${known[0]?.file ?? 'the simulation'}`,
    async run(trial) {
      const failed = await trial.fails(known);
      return failed && `fails with no fault planted: ${JSON.stringify(failed)}`;
    },
  };
}

function noticing(fault: Fault): Look {
  const { name, by } = fault;
  return {
    name,
    async run(trial) {
      const noticed = await trial.with(fault, () => notices(trial, by));
      return noticed ? undefined : `not noticed: ${name}, by ${JSON.stringify(by)}`;
    },
  };
}
