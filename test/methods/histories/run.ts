/**
 * Histories of real processes, judged by our checker and by porcupine:
 * `node --import ./scripts/sources.mjs test/methods/histories/run.ts`.
 * `--store` is one or several of those in suffering.ts, or a control, which has to be found
 * illegal by both: `without-lease`, `without-fence`. Default: all of them. `--operations` is how
 * many of each, `--length` how many a history has at least, `--beside` how many stores are at it at
 * once, `--seed` the first.
 */
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Crowd, type CrowdOptions, FAULTS } from './crowd.ts';
import { Porcupine } from './porcupine.ts';
import { type Judged, judge } from './record.ts';
import { SUFFERING } from './suffering.ts';

const CONTROLS: Readonly<Record<string, Pick<CrowdOptions, 'without' | 'faults'>>> = {
  'without-lease': { without: 'lease', faults: ['stop', 'block'] },
  'without-fence': { without: 'fence', faults: ['stop', 'block'] },
};

const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true },
    operations: { type: 'string', default: '100000' },
    length: { type: 'string', default: '2000' },
    beside: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
  },
});
const stores = values.store ?? [...Object.keys(CONTROLS), ...Object.keys(SUFFERING)];
const wanted = Number(values.operations);
const length = Number(values.length);
const started = performance.now();
const porcupine = await Porcupine.start();
/** How many operations there are of each store at work. */
const progress = new Map<string, number>();

const waiting = [...stores];
const results: boolean[] = [];
const line = async (): Promise<void> => {
  for (let store = waiting.shift(); store !== undefined; store = waiting.shift()) {
    results.push(await gather(store).catch((error) => failed(store ?? '', error)));
    progress.delete(store);
  }
};
await Promise.all(Array.from({ length: Number(values.beside) }, line));
porcupine.close();
process.exitCode = results.every(Boolean) ? 0 : 1;

/** Whether all of them were legal, or of a control one was not. */
async function gather(store: string): Promise<boolean> {
  const control = CONTROLS[store];
  const suffering = await SUFFERING[control ? 'sqlite' : store]?.();
  if (!suffering) throw new Error(`there is no such store`);
  const since = performance.now();
  const all: Judged[] = [];
  let wrong = '';
  try {
    const crowd = await Crowd.start({ ...suffering, ...control });
    try {
      for (let seed = Number(values.seed); !wrong && sum(all, operationsOf) < wanted; seed++) {
        const recorded = await crowd.record({ seed, operations: length });
        const judged = await judge(recorded, porcupine);
        all.push(judged);
        if (!bothLegal(judged)) wrong = `seed ${seed}, logs in ${recorded.logs}`;
        else rmSync(recorded.logs, { recursive: true });
        show(store, sum(all, operationsOf));
      }
    } finally {
      await crowd.close({ keep: wrong !== '' && !control });
    }
  } finally {
    await suffering.close();
  }
  const last = all.at(-1);
  const right = control ? last !== undefined && bothIllegal(last) : wrong === '';
  say(`${right ? 'ok' : 'WRONG'} ${store}: ${report(all)}, ${seconds(since)} s`);
  if (!right && last) say(`${wrong}\n${difference(last)}`);
  return right;
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
    `${sum(all, operationsOf)} operations`,
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

function operationsOf({ operations }: Judged): number {
  return operations;
}

function sum(all: readonly Judged[], of: (each: Judged) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}

function failed(store: string, error: unknown): boolean {
  say(`WRONG ${store}: ${error instanceof Error ? error.message : error}`);
  return false;
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}

function say(text: string): void {
  console.log(process.stdout.isTTY ? `\r\x1b[K${text}` : text);
}

function show(store: string, operations: number): void {
  progress.set(store, operations);
  if (!process.stdout.isTTY) return;
  const now = [...progress].map(([name, count]) => `${name} ${count}`).join(', ');
  const left = `${results.length} of ${stores.length} done, ${waiting.length} wait`;
  process.stdout.write(`\r\x1b[K${now} of ${wanted}; ${left}, ${seconds(started)} s`);
}
