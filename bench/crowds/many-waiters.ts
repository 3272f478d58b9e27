/** What a hand-off between processes costs with more and more tasks that wait, on each store. */
import { columns, roundsOf } from '../measuring/crew.ts';
import { report } from '../measuring/result.ts';
import { type Place, TTL_MS } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

/** In two processes; one of them holds. */
const TASKS = [2, 10, 100, 1_000];
const PROCESSES = 2;
/** A queue that has yet to form asks for more than one that stands. */
const SETTLE_MS = 1_000;
/** With one heartbeat of each task that waits. */
const FOR_MS = SETTLE_MS + TTL_MS / 3;
const PACE = { holdMs: 1, settleMs: SETTLE_MS, forMs: FOR_MS, bytes: true };

export async function measure(places: readonly Place[]): Promise<void> {
  for (const place of places) {
    const { name, asks } = await subjectAt(place.url);
    const jobs = TASKS.map((tasks) => ({ contender: 'holdfast, fair', tasks, ...PACE }));
    for (const round of await roundsOf(place, PROCESSES, jobs)) {
      const all = columns(round);
      const of = (what: string): number => all[`${what} an acquisition`] ?? Number.NaN;
      report({
        what: `${name}, ${round.job.tasks.toLocaleString('en')} tasks`,
        measured: {
          'requests a hand-off': of(asks),
          'bytes a hand-off': of('bytes'),
          'server CPU µs a hand-off': of('server CPU µs'),
          'hand-off: median ms': all['gap median ms'] ?? Number.NaN,
          'p99 ms': all['gap p99 ms'] ?? Number.NaN,
        },
      });
    }
  }
}
