/**
 * `npm run sim -- --runs N --seed S [--trace]`: runs simulated worlds from seed S on, and says what
 * they have been through. Ends with 1 at the first seed that breaks a promise.
 */
import { parseArgs } from 'node:util';
import { unreached } from '../test/methods/simulation/coverage.ts';
import { runFleet, type Sum } from '../test/methods/simulation/fleet.ts';
import { runWorld } from '../test/methods/simulation/run.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
  },
});
const runs = wholeNumber('runs', values.runs);
const seed = wholeNumber('seed', values.seed);
process.exit((await (values.trace ? trace() : simulate())) ? 0 : 1);

/** Every line of some worlds, one world after the other. */
async function trace(): Promise<boolean> {
  let good = true;
  for (let each = seed; each < seed + runs && good; each++) {
    const { trace, steps } = await runWorld(each, true);
    console.log([`seed ${each}`, ...(trace.lines ?? [])].join('\n'));
    console.log(`seed ${each} took ${steps} steps; its course has the hash ${trace.hash}`);
    good = trace.problems.length === 0;
  }
  return good;
}

async function simulate(): Promise<boolean> {
  const start = performance.now();
  const seconds = (): number => (performance.now() - start) / 1000;
  const sum = await runFleet({ runs, seed, progress: (so) => showProgress(so, seconds()) });
  if (process.stdout.isTTY) process.stdout.write('\r\u001b[K');
  report(sum, seconds());
  for (const { seed, problems } of sum.failures) {
    console.log(`\nseed ${seed}: ${problems.join('\n  ')}`);
    console.log(`  again, with all that happens: npm run sim -- --runs 1 --seed ${seed} --trace`);
  }
  const missed = sum.failures.length > 0 ? [] : unreached(sum.runs, sum.counts);
  for (const what of missed) console.log(`never reached: ${what}`);
  return sum.failures.length === 0 && missed.length === 0;
}

function showProgress({ runs: done }: Sum, seconds: number): void {
  if (!process.stdout.isTTY) return;
  const rate = (done / seconds).toFixed(0);
  process.stdout.write(`\r${done.toLocaleString('en')} of ${runs.toLocaleString('en')}, ${rate}/s`);
}

function report({ runs: done, steps, repeated, counts }: Sum, seconds: number): void {
  const number = (n: number): string => Math.round(n).toLocaleString('en');
  for (const [what, times] of Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`${number(times).padStart(14)}  ${what}`);
  }
  console.log(
    `${number(done)} worlds in ${seconds.toFixed(1)} s (${number(done / seconds)}/s), ` +
      `${number(steps)} steps (${number(steps / seconds)}/s), ${repeated} worlds run twice`,
  );
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,12}$/.test(text) && Number(text) > 0) return Number(text);
  console.error(`--${name} must be a whole number from 1 on, not '${text}'.`);
  process.exit(64);
}
