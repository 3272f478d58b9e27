/**
 * Runs steps: those that count on clocks one after the other, and beside them, one after the other
 * as well, those that only compute. While they run, a line says how far they are: it moves on a
 * terminal, and comes once a minute in a log.
 */
import { type Progress, type Skip, type Step, StepError, type Tally } from './steps.ts';

export interface Ended extends Tally {
  readonly step: string;
  readonly seconds: number;
}

/** How far a step is. */
interface Course {
  readonly step: Step;
  since?: number;
  progress?: Progress;
  ended?: Ended;
}

/** Between two looks of a log, in ms. */
const LOG_MS = 60_000;

/** @param onEnd is called after each step. */
export async function runSteps(
  steps: readonly Step[],
  onEnd: (ended: Ended) => Promise<void> = async () => {},
): Promise<Ended[]> {
  const courses = steps.map((step): Course => ({ step }));
  let timedAreOver = false;
  const lane = async (beside: boolean): Promise<void> => {
    for (const course of courses.filter(({ step }) => (step.beside ?? false) === beside)) {
      const since = performance.now();
      course.since = since;
      const tell = (progress: Progress): void => {
        course.progress = progress;
      };
      const tally = await runStep(course.step, tell, beside && !timedAreOver);
      const seconds = (performance.now() - since) / 1000;
      const one = { ...tally, step: course.step.name, seconds };
      course.ended = one;
      line.say(lineOf(one));
      await onEnd(one);
    }
    if (!beside) timedAreOver = true;
  };
  const line = progressLine(() => sayProgress(courses));
  await Promise.all([lane(false), lane(true)]);
  line.stop();
  return courses.flatMap(({ ended }) => ended ?? []);
}

async function runStep(step: Step, ...how: Parameters<Step['run']>): Promise<Tally> {
  try {
    return await step.run(...how);
  } catch (error) {
    console.log(error instanceof StepError ? error.message : error);
    return { passed: 0, failed: [step.name], skipped: [] };
  }
}

function lineOf({ step, seconds, passed, failed }: Ended): string {
  const sums = `${passed} passed${failed.length > 0 ? `, ${failed.length} failed` : ''}`;
  const mark = failed.length === 0 ? '✓' : '✗';
  return `${mark} ${step.padEnd(28)} ${seconds.toFixed(1).padStart(7)} s   ${sums}`;
}

function sayProgress(courses: readonly Course[]): string {
  const running = courses.filter(({ since, ended }) => since !== undefined && !ended);
  const now = running.map(({ step, progress }) => {
    return progress ? `${step.name} ${progress.done} of ${progress.all}` : step.name;
  });
  const done = `${courses.filter(({ ended }) => ended).length} of ${courses.length} steps done`;
  const failed = courses.reduce((sum, { ended, progress }) => {
    return sum + (ended ? ended.failed.length : (progress?.failed ?? 0));
  }, 0);
  return `${now.join(', ')}; ${done}, ${failed} failed, about ${timeLeft(courses)} left`;
}

/** By what the steps take on a quiet machine, times how much slower this one was until now. */
function timeLeft(courses: readonly Course[]): string {
  let [took, wanted] = [1, 1];
  for (const { step, ended } of courses) {
    if (!ended) continue;
    took += ended.seconds;
    wanted += step.seconds;
  }
  const slower = Math.max(1, took / wanted);
  const lanes = { timed: 0, beside: 0 };
  for (const { step, since, progress, ended } of courses) {
    if (ended) continue;
    const passed = since === undefined ? 0 : (performance.now() - since) / 1000 / slower;
    const share = progress && progress.done / progress.all;
    const left = share ? step.seconds * (1 - share) : Math.max(0, step.seconds - passed);
    lanes[step.beside ? 'beside' : 'timed'] += left * slower;
  }
  return minutes(Math.ceil(Math.max(lanes.timed, lanes.beside)));
}

export function minutes(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function progressLine(text: () => string): { say(line: string): void; stop(): void } {
  const { stdout } = process;
  const clear = (): void => {
    if (stdout.isTTY) stdout.write('\r\u001b[K');
  };
  const draw = (): void => {
    if (!stdout.isTTY) return console.log(text());
    stdout.write(`\r${text().slice(0, stdout.columns - 1)}\u001b[K`);
  };
  const timer = setInterval(draw, stdout.isTTY ? 250 : LOG_MS);
  return {
    say(line) {
      clear();
      console.log(line);
    },
    stop() {
      clearInterval(timer);
      clear();
    },
  };
}

/** How the conformance suite begins its reason for leaving out what a store does not promise. */
const NOT_PROMISED = 'not promised: ';

/** So many files are named that took longest. */
const SLOWEST = 5;

/** Prints the slowest, what was skipped and why, what failed, and the sum; whether all is well. */
export function summarize(ended: readonly Ended[]): boolean {
  const failed = ended.flatMap((each) => each.failed);
  const skipped = ended.flatMap((each) => each.skipped);
  const passed = ended.reduce((sum, each) => sum + each.passed, 0);
  const files = ended.flatMap((each) => each.files ?? []).sort(([, a], [, b]) => b - a);
  list(
    'Slowest',
    files.slice(0, SLOWEST).map(([name, ms]) => `${(ms / 1000).toFixed(1)} s  ${name}`),
  );
  list('Skipped', reasonsOf(skipped));
  list('Failed', failed);
  const gaps = skipped.filter(({ reason }) => !reason?.startsWith(NOT_PROMISED));
  const unexplained = gaps.some(({ reason }) => reason === undefined);
  const refused = unexplained || (gaps.length > 0 && process.env.CI === 'true');
  if (refused) console.log('\nSkips need a reason; with CI=true only that of a missing promise.');
  const skips = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  console.log(`\n${passed} passed, ${failed.length} failed${skips}`);
  return failed.length === 0 && !refused;
}

function reasonsOf(skipped: readonly Skip[]): string[] {
  const reasons = new Map<string, number>();
  for (const { test, reason = `no reason given: ${test}` } of skipped) {
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return [...reasons].map(([reason, times]) => `${times} × ${reason}`);
}

function list(title: string, items: readonly string[]): void {
  if (items.length > 0) console.log(`\n${[`${title}:`, ...items].join('\n  ')}`);
}
