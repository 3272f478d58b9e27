/** Gathers histories of one store after the other, and says what was found. */
import { rmSync } from 'node:fs';
import { PACE } from '../../support/this-run.ts';
import { Crowd, type CrowdOptions, FAULTS, type Fault } from './crowd.ts';
import { Porcupine } from './porcupine.ts';
import { type Judged, judge } from './record.ts';
import { SLOW, SUFFERING } from './suffering.ts';

export interface Wanted {
  /** Of each store, answered; of slow ones a fifth. */
  readonly operations: number;
  /** How many a history has at least. */
  readonly length: number;
  /** How many stores are at it at once. */
  readonly beside: number;
  /** Of the first history. */
  readonly seed: number;
}

/** What finds out those who do not look. */
const HARMFUL: readonly Fault[] = Array.from({ length: 12 }, (_, i) => (i % 2 ? 'stop' : 'block'));

const CONTROLS: Readonly<Record<string, Pick<CrowdOptions, 'without' | 'faults'>>> = {
  'without-lease': { without: 'lease', faults: HARMFUL },
  'without-fence': { without: 'fence', faults: HARMFUL },
};

/** Whether all was legal, and no control was. */
export async function gatherAll(
  chosen: readonly string[] | undefined,
  wanted: Wanted,
): Promise<boolean> {
  const stores = chosen ?? [...Object.keys(CONTROLS), ...Object.keys(SUFFERING)];
  const show = new Progress(stores.length, wanted.operations);
  const porcupine = await Porcupine.start();
  const waiting = [...stores];
  const results: boolean[] = [];
  const line = async (): Promise<void> => {
    for (let store = waiting.shift(); store !== undefined; store = waiting.shift()) {
      const gathering = new Gathering(store, wanted, show);
      results.push(await gathering.run(porcupine));
    }
  };
  await Promise.all(Array.from({ length: wanted.beside }, line));
  porcupine.close();
  const each = `${stores.length} stores and controls, ${wanted.operations} operations of each`;
  const slow = SLOW.filter((name) => stores.includes(name));
  const fifth = slow.length > 0 ? ` (a fifth of ${slow.join(', ')})` : '';
  show.say(`${each}${fifth}, ${seconds(show.started)} s, pace ${PACE}`);
  return results.every(Boolean);
}

class Progress {
  readonly started: number = performance.now();
  readonly #stores: number;
  readonly #operations: number;
  #done = 0;
  /** How many operations there are of each store at work. */
  readonly #now = new Map<string, number>();

  constructor(stores: number, operations: number) {
    this.#stores = stores;
    this.#operations = operations;
  }

  at(store: string, operations: number): void {
    this.#now.set(store, operations);
    if (!process.stdout.isTTY) return;
    const now = [...this.#now].map(([name, count]) => `${name} ${count}`).join(', ');
    const all = `${this.#done} of ${this.#stores} stores done, ${seconds(this.started)} s`;
    process.stdout.write(`\r\x1b[K${all}; of ${this.#operations} operations: ${now}`);
  }

  done(store: string, text: string): void {
    this.#now.delete(store);
    this.#done += 1;
    this.say(text);
  }

  say(text: string): void {
    console.log(process.stdout.isTTY ? `\r\x1b[K${text}` : text);
  }
}

class Gathering {
  readonly #store: string;
  readonly #wanted: Wanted;
  readonly #show: Progress;
  readonly #all: Judged[] = [];
  /** Where the logs are of what is not legal, or not by both. */
  #wrong = '';

  constructor(store: string, wanted: Wanted, show: Progress) {
    this.#store = store;
    this.#wanted = wanted;
    this.#show = show;
  }

  /** Whether all of them were legal, or of a control one was not. */
  async run(porcupine: Porcupine): Promise<boolean> {
    const control = CONTROLS[this.#store];
    const started = performance.now();
    let failure = '';
    try {
      await this.#suffer(porcupine, control);
    } catch (error) {
      failure = `\n${error instanceof Error ? error.stack : error}`;
    }
    const last = this.#all.at(-1);
    const found = control ? last !== undefined && bothIllegal(last) : this.#wrong === '';
    const right = found && failure === '';
    if (!right) failure += `\n${this.#wrong}${last ? `\n${difference(last)}` : ''}`;
    const told = `${this.#store}: ${report(this.#all)}, ${seconds(started)} s${failure}`;
    this.#show.done(this.#store, `${right ? 'ok' : 'WRONG'} ${told}`);
    return right;
  }

  async #suffer(porcupine: Porcupine, control: (typeof CONTROLS)[string] | undefined) {
    const suffering = await SUFFERING[control ? 'sqlite' : this.#store]?.();
    if (!suffering) throw new Error('there is no such store');
    try {
      const crowd = await Crowd.start({ ...suffering, ...control });
      try {
        await this.#gather(crowd, porcupine);
      } finally {
        await crowd.close({ keep: this.#wrong !== '' && !control });
      }
    } finally {
      await suffering.close();
    }
  }

  async #gather(crowd: Crowd, porcupine: Porcupine): Promise<void> {
    const { length, seed: first } = this.#wanted;
    const operations = this.#wanted.operations / (SLOW.includes(this.#store) ? 5 : 1);
    for (let seed = first; sum(this.#all, answered) < operations; seed++) {
      const recorded = await crowd.record({ seed, operations: length });
      const judged = await judge(recorded, porcupine);
      this.#all.push(judged);
      this.#show.at(this.#store, sum(this.#all, answered));
      if (!bothLegal(judged)) {
        this.#wrong = `seed ${seed}, logs in ${recorded.logs}`;
        return;
      }
      rmSync(recorded.logs, { recursive: true });
    }
  }
}

function bothLegal({ lock, counter, porcupine: theirs }: Judged): boolean {
  return [lock, counter, theirs?.lock, theirs?.counter].every((each) => each?.verdict === 'legal');
}

function bothIllegal({ lock, counter, porcupine: theirs }: Judged): boolean {
  const same = lock.verdict === theirs?.lock.verdict && counter.verdict === theirs.counter.verdict;
  return same && [lock, counter].some(({ verdict }) => verdict === 'illegal');
}

function difference({ lock, counter, porcupine: theirs }: Judged): string {
  const ours = `ours: locks ${lock.verdict}, counters ${counter.verdict}`;
  const others = `porcupine: locks ${theirs?.lock.verdict}, counters ${theirs?.counter.verdict}`;
  const why = [...lock.disorders, ...counter.disorders].map(({ message }) => message);
  return [ours, others, ...why].join('\n');
}

function report(all: readonly Judged[]): string {
  const faults = FAULTS.map((fault) => {
    return `${sum(all, (each) => each.faults.filter((done) => done === fault).length)} ${fault}`;
  });
  const legal = (of: (each: Judged) => boolean): number => sum(all, (each) => Number(of(each)));
  const ours = legal((each) => [each.lock, each.counter].every(isLegal));
  const theirs = legal(({ porcupine: p }) => p !== undefined && [p.lock, p.counter].every(isLegal));
  return [
    `${sum(all, answered)} operations`,
    `${sum(all, ({ unknown }) => unknown)} unanswered`,
    `${sum(all, ({ refused }) => refused)} refused`,
    `${sum(all, ({ stale }) => stale)} stale tokens`,
    `${all.length} histories`,
    `${ours} legal by ours`,
    `${theirs} legal by porcupine`,
    `longest check ${Math.max(0, ...all.map(({ checkMs }) => checkMs)).toFixed(0)} ms`,
    `faults: ${faults.join(', ')}`,
  ].join(', ');
}

function isLegal({ verdict }: { readonly verdict: string }): boolean {
  return verdict === 'legal';
}

function answered({ operations, unknown }: Judged): number {
  return operations - unknown;
}

function sum(all: readonly Judged[], of: (each: Judged) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}
