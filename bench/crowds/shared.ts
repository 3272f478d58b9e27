/**
 * What several hold at a time: permits, and the sides of a read-write lock. As two processes, 2 to
 * 200 tasks want it all the time and hold it for 1 ms; what an acquisition costs must not grow with
 * their number.
 */
import { anAcquisition, Crew } from '../measuring/crew.ts';
import { median, report } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';
import { SHARED } from '../stores/ours.ts';

const TASKS = [2, 10, 100, 200];
/** A queue that has yet to form asks for more than one that stands. */
const [SETTLE_MS, FOR_MS] = [500, 2_500];
/** So much more than with fewer tasks, but as many as can wait. */
const GROWTH = 1.3;
const LEAST = 10;

export async function measure([place]: readonly [Place]): Promise<void> {
  const { asks } = await subjectAt(place.url);
  const crew = await Crew.at(place, []);
  for (const contender of Object.keys(SHARED)) {
    let least = Number.NaN;
    for (const tasks of TASKS) {
      const job = { ...{ contender, url: place.url, tasks, holdMs: 1 }, settleMs: SETTLE_MS };
      const { all, work } = await crew.round({ ...job, forMs: FOR_MS }, 2);
      const turns = all.flatMap((one) => one.turns);
      const asked = (work[asks] ?? Number.NaN) / turns.length;
      if (tasks === LEAST) least = asked;
      report({
        what: `${contender}, ${tasks} tasks`,
        measured: {
          'acquisitions/s': turns.length / ((FOR_MS - SETTLE_MS) / 1000),
          'median wait ms': median(turns.map(([asking, granted]) => (granted - asking) / 1e6)),
          ...anAcquisition(work, turns.length),
        },
        ...(tasks > LEAST && {
          goal: `${asks} ≤ ${GROWTH} × those of ${LEAST} tasks`,
          met: asked <= GROWTH * least,
        }),
      });
    }
  }
  await crew.end();
}
