/** 4 processes of 25 tasks that want the same lock all the time. */
import { columns, type Round, roundsOf } from '../measuring/crew.ts';
import { type Result, report } from '../measuring/result.ts';
import type { Place, Subject } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

const PACE = { processes: 4, tasks: 100, holdMs: 1, settleMs: 500, forMs: 2_000 };
const OURS = 'holdfast, fair';

export async function measure([place]: readonly [Place]): Promise<void> {
  const subject = await subjectAt(place.url);
  const { contended } = subject;
  const rounds = await roundsOf(place, contended, PACE);
  let floor = Number.NaN;
  for (const contender of contended) {
    const measured = columns(rounds.get(contender) as Round);
    const gap = measured['gap median ms'] ?? Number.NaN;
    if (Number.isNaN(floor)) floor = gap;
    const ratio = gap / floor;
    const goal = contender === OURS ? goalOf(subject, measured, ratio) : {};
    report({ what: `${contender}, hold ${PACE.holdMs} ms`, measured, ratio, ...goal });
  }
}

function goalOf(
  { asks, crowd = {} }: Subject,
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
  return {
    goal: goals.map(({ what, most }) => `${what} ≤ ${most}`).join(', '),
    met: measured.failures === 0 && goals.every(({ most, is }) => is <= most),
  };
}
