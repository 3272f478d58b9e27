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
import { KINDS, type Kind, type Notice } from '../test/methods/teeth/kinds.ts';
import { notices } from '../test/methods/teeth/noticing.ts';
import { cheapest, type Notices, readRecord } from '../test/methods/teeth/record.ts';
import type { Trial } from '../test/methods/teeth/trial.ts';

/** What may be wrong: answers the complaint. */
interface Look {
  readonly name: string;
  run(trial: Trial): Promise<string | undefined>;
}

interface Known {
  readonly fault: Fault;
  readonly notice: Notice;
  readonly kind: Kind;
  /** In s, about. */
  readonly cost: number;
}

/**
 * Most tests on servers wait more than they work: so many copies of the project a core. What hangs
 * only waits until it is given up, so that it has copies of its own, whatever the cores do.
 */
const COPIES_A_CORE = 3;
const COPIES_FOR_HANGS = 3;

/** By the kind of run, in s. */
const COSTS: Readonly<Record<Kind, number>> = {
  ...{ units: 0.5, conformance: 1.5, simulation: 5, servers: 2, processes: 5 },
};
const COST_OF_A_HANG = 25;

export interface KnownOptions {
  /** Which may look; default: all. */
  readonly kinds?: readonly Kind[];
  /** Looks with everything that is known to notice a fault; default: with the cheapest. */
  readonly allNotices?: boolean | undefined;
}

/** Prints what is wrong, and answers whether nothing is. */
export async function lookForKnown(
  faults: readonly Fault[],
  { kinds = KINDS, allNotices = false }: KnownOptions = {},
): Promise<boolean> {
  const record = readRecord();
  const known = faults
    .flatMap((fault) => knownOf(fault, record.get(fault.name), allNotices))
    .filter(({ kind }) => kinds.includes(kind));
  const groups = byFile(known);
  const progress = new Progress(groups.length + known.length);
  for (const { name } of faults.filter(({ name }) => !cheapest(record.get(name)))) {
    progress.fail(`not tried yet, see npm run teeth: ${name}`);
  }
  const look = async (trial: Trial, group: readonly Known[]): Promise<void> => {
    // Tests that fail anyway would notice everything.
    for (const each of [soundness(group), ...group.map(noticing)]) {
      await progress.during(each, trial);
    }
  };
  const hang = (group: readonly Known[]): boolean => group.some(({ notice }) => notice.hung);
  await Promise.all([
    inTrials(groups.filter(hang), COPIES_FOR_HANGS, look),
    inTrials(
      groups.filter((group) => !hang(group)),
      COPIES_A_CORE * availableParallelism(),
      look,
    ),
  ]);
  return progress.end();
}

function knownOf(fault: Fault, all: Notices = {}, allNotices: boolean): Known[] {
  return KINDS.flatMap((kind) => {
    const notice = all[kind];
    if (!notice || !(allNotices || notice === cheapest(all))) return [];
    return [{ fault, notice, kind, cost: notice.hung ? COST_OF_A_HANG : COSTS[kind] }];
  });
}

/**
 * What one file notices goes into one copy, which has loaded it then; but not what hangs, while
 * all else would wait. The dearest first, so that no copy is left alone with them at the end.
 */
function byFile(known: readonly Known[]): Known[][] {
  const groups = new Map<string, Known[]>();
  for (const each of known) {
    const { file, hung } = each.notice;
    const key = `${file} ${hung}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const cost = (group: readonly Known[]): number => group.reduce((sum, { cost }) => sum + cost, 0);
  return [...groups.values()].sort((a, b) => cost(b) - cost(a));
}

function soundness(group: readonly Known[]): Look {
  const notices = group.map(({ notice }) => notice);
  return {
    name: `sound: ${notices[0]?.file ?? 'the simulation'}`,
    async run(trial) {
      const failed = await trial.fails(notices);
      return failed && `fails with no fault planted: ${JSON.stringify(failed)}`;
    },
  };
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
