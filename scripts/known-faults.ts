/**
 * Plants each fault, and lets the test that is known to notice it look for it.
 *
 * Nothing is remembered from run to run, and nothing is asked again until it gives the answer that
 * one wants: what is not noticed fails.
 */
import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Fault } from '../test/methods/teeth/fault.ts';
import { inTrials } from '../test/methods/teeth/in-trials.ts';
import { KINDS, type Notice } from '../test/methods/teeth/kinds.ts';
import { notices } from '../test/methods/teeth/noticing.ts';
import { cheapest, readRecord } from '../test/methods/teeth/record.ts';
import type { Trial } from '../test/methods/teeth/trial.ts';

/** What may be wrong: answers the complaint. */
interface Look {
  readonly name: string;
  run(trial: Trial): Promise<string | undefined>;
}

interface Known {
  readonly fault: Fault;
  readonly notice: Notice;
  /** Of the kind of run. */
  readonly cost: number;
}

/**
 * Most tests on servers wait more than they work: so many copies of the project a core. What hangs
 * only waits until it is given up, so that it has copies of its own, whatever the cores do.
 */
const COPIES_A_CORE = 3;
const COPIES_FOR_HANGS = 4;

export interface KnownOptions {
  /** Looks with everything that is known to notice a fault; default: with the cheapest. */
  readonly allNotices?: boolean | undefined;
}

/** Prints what is wrong, and answers whether nothing is. */
export async function lookForKnown(
  faults: readonly Fault[],
  { allNotices = false }: KnownOptions = {},
): Promise<boolean> {
  const record = readRecord();
  const known = faults.flatMap((fault) => {
    const all = record.get(fault.name);
    const found = allNotices ? Object.values(all ?? {}) : [cheapest(all)];
    return found.flatMap((notice): Known[] => {
      const cost = KINDS.findIndex((kind) => all?.[kind] === notice);
      return notice ? [{ fault, notice, cost }] : [];
    });
  });
  // The dearest first, so that no copy is left alone with them at the end.
  known.sort((a, b) => b.cost - a.cost);
  const hangs = known.filter(({ notice }) => notice.hung).map(noticing);
  const others = known.filter(({ notice }) => !notice.hung).map(noticing);
  const sound = soundness(known);
  const progress = new Progress(sound.length + known.length);
  const untried = faults.filter(({ name }) => !cheapest(record.get(name)));
  for (const { name } of untried) progress.fail(`not tried yet, see npm run teeth: ${name}`);
  const look = (trial: Trial, each: Look): Promise<void> => progress.during(each, trial);
  const copies = COPIES_A_CORE * availableParallelism();
  await inTrials(sound, { copies, brisk: false }, look);
  await Promise.all([
    inTrials(hangs, { copies: COPIES_FOR_HANGS }, look),
    inTrials(others, { copies }, look),
  ]);
  return progress.end();
}

/** Tests that fail anyway would notice everything: each file, with no fault planted. */
function soundness(known: readonly Known[]): Look[] {
  const all = known.map(({ notice }) => notice);
  return [...new Set(all.map(({ file }) => file))].map((file) => ({
    name: `sound: ${file ?? 'the simulation'}`,
    async run(trial) {
      const failed = await trial.fails(all.filter((notice) => notice.file === file));
      return failed && `fails with no fault planted: ${JSON.stringify(failed)}`;
    },
  }));
}

function noticing({ fault, notice }: Known): Look {
  const { name } = fault;
  return {
    name,
    async run(trial) {
      const noticed = await trial.with(fault, () => notices(trial, notice));
      return noticed ? undefined : `not noticed: ${name}, by ${JSON.stringify(notice)}`;
    },
  };
}

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
    if (complaint) this.fail(complaint);
    this.#draw();
  }

  fail(complaint: string): void {
    this.#failed += 1;
    this.#write(`✗ ${complaint}\n`);
  }

  end(): boolean {
    const slowest = this.#times.sort((a, b) => b.ms - a.ms).slice(0, 5);
    const lines = slowest.map(
      ({ name, ms }) => `  ${(ms / 1000).toFixed(1).padStart(6)} s ${name}`,
    );
    this.#write(`The slowest:\n${lines.join('\n')}\n`);
    this.#write(`${this.#times.length - this.#failed} passed, ${this.#failed} failed\n`);
    return this.#failed === 0;
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
