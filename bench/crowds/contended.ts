/** 4 processes of 25 tasks that want the same lock all the time. */
import { Crew, columns, type Round } from '../measuring/crew.ts';
import { type Result, report, shuffled } from '../measuring/result.ts';
import type { Place, Subject } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

export async function measure([place]: readonly [Place]): Promise<void> {
  const { contended } = await subjectAt(place.url);
  await compete([place], contended, { processes: 4, tasks: 100 });
}

export interface Setting {
  readonly processes: number;
  /** In all processes together. */
  readonly tasks: number;
  readonly drained?: number;
  /** Goal of the gap of ours that are not fair. Default: those of the store, for the fair ones. */
  readonly gapMs?: number;
  /** How long a lock is held, and the pause before the next ask. Default: 1 ms and 0, no pause. */
  readonly paces?: readonly Pace[];
}

interface Pace {
  readonly holdMs: number;
  readonly pauseMs?: number;
}

const FOR_MS = 2_000;
const SETTLE_MS = 500;

/** Reports a row for each contender at each place, the floor first, with each pace. */
export async function compete(
  places: readonly Place[],
  contenders: readonly string[],
  { processes, tasks, drained, gapMs, paces = [{ holdMs: 1 }, { holdMs: 0 }] }: Setting,
): Promise<void> {
  const crews: { place: Place; crew: Crew; subject: Subject }[] = [];
  for (const place of places) {
    const subject = await subjectAt(place.url);
    crews.push({ place, subject, crew: await Crew.at(place, contenders) });
  }
  const ours = contenders.findLast((name) => name.startsWith('holdfast'));
  const extent =
    drained === undefined ? { forMs: FOR_MS, settleMs: SETTLE_MS } : { forMs: FOR_MS, drained };
  for (const pace of paces) {
    const rounds = new Map<string, Round>();
    const all = contenders.flatMap((contender) => crews.map((one) => ({ contender, ...one })));
    const nameOf = (contender: string, { name }: Place): string =>
      places.length === 1 ? contender : `${contender}, ${name}`;
    for (const { contender, place, crew } of shuffled(all)) {
      const job = { ...{ contender, url: place.url, tasks }, ...pace, ...extent };
      rounds.set(nameOf(contender, place), await crew.round(job, processes));
    }
    let floor = Number.NaN;
    for (const { contender, place, subject } of all) {
      const what = nameOf(contender, place);
      const measured = columns(rounds.get(what) as Round);
      const gap = measured['gap median ms'] ?? Number.NaN;
      if (Number.isNaN(floor)) floor = gap;
      const ratio = gap / floor;
      let goal: Partial<Result> = {};
      if (gapMs !== undefined && contender === 'holdfast') {
        goal = { goal: `gap ≤ ${gapMs} ms`, met: gap <= gapMs && measured.failures === 0 };
      } else if (gapMs === undefined && places.length === 1 && contender === ours) {
        goal = goalOf(subject, measured, ratio);
      }
      report({ what: `${what}, ${paceOf(pace)}`, measured, ratio, ...goal });
    }
  }
  for (const { crew } of crews) await crew.end();
}

function paceOf({ holdMs, pauseMs }: Pace): string {
  return `hold ${holdMs} ms${pauseMs === undefined ? '' : `, pause ${pauseMs} ms`}`;
}

function goalOf(
  { asks, crowd }: Subject,
  measured: Readonly<Record<string, number>>,
  ratio: number,
): Partial<Result> {
  const asked = measured[`${asks} an acquisition`] ?? Number.NaN;
  const longest = measured['longest wait / median'] ?? Number.NaN;
  const goals = [
    { what: 'ratio', most: crowd.ratio, is: ratio },
    { what: asks, most: crowd.asks, is: asked },
    { what: 'longest wait', most: crowd.longest, is: longest },
  ].flatMap(({ what, most, is }) => (most === undefined ? [] : [{ what, most, is }]));
  if (goals.length === 0) return {};
  return {
    goal: goals.map(({ what, most }) => `${what} ≤ ${most}`).join(', '),
    met: measured.failures === 0 && goals.every(({ most, is }) => is <= most),
  };
}
