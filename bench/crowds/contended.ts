/** 4 processes of 25 tasks that want the same lock all the time. */
import { Crew, columns, type Round } from '../measuring/crew.ts';
import { type Result, report, shuffled } from '../measuring/result.ts';
import type { Place, Subject } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

const PROCESSES = 4;
const PACE = { tasks: 100, holdMs: 1, settleMs: 500, forMs: 2_000 };
const OURS = 'holdfast, fair';

export async function measure([place]: readonly [Place]): Promise<void> {
  const subject = await subjectAt(place.url);
  const { contended } = subject;
  const crew = await Crew.at(place, contended);
  const rounds = new Map<string, Round>();
  for (const contender of shuffled(contended)) {
    rounds.set(contender, await crew.round({ contender, url: place.url, ...PACE }, PROCESSES));
  }
  await crew.end();
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
