/** 4 processes of 25 tasks that want the same lock all the time. */
import { columns, type Round, roundsOf } from '../measuring/crew.ts';
import { type Result, report, shuffled } from '../measuring/result.ts';
import type { Place, Subject } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

const PACE = { tasks: 100, holdMs: 1, settleMs: 500, forMs: 2_000 };
const PROCESSES = 4;
const OURS = 'holdfast, fair';

export async function measure([place]: readonly [Place]): Promise<void> {
  const subject = await subjectAt(place.url);
  const { contended } = subject;
  const jobs = shuffled(contended).map((contender) => ({ contender, ...PACE }));
  const rounds = await roundsOf(place, PROCESSES, jobs);
  let floor = Number.NaN;
  for (const contender of contended) {
    const measured = columns(rounds.find(({ job }) => job.contender === contender) as Round);
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
  const found: Readonly<Record<string, number | undefined>> = {
    ratio,
    [asks]: measured[`${asks} an acquisition`],
    'longest wait': measured['longest wait / median'],
  };
  const goals = Object.entries(crowd);
  const isMet = ([what, most]: [string, number]): boolean => (found[what] ?? Number.NaN) <= most;
  return {
    goal: goals.map(([what, most]) => `${what} ≤ ${most}`).join(', '),
    met: measured.failures === 0 && goals.every(isMet),
  };
}
