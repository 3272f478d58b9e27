/** Two processes of one task each, which pass the same lock to each other, at two paces. */
import type { Place } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';
import { compete } from './contended.ts';

export async function measure([place]: readonly [Place]): Promise<void> {
  const { pair, contended } = await subjectAt(place.url);
  const paces = pair ? [{ holdMs: 6, pauseMs: 3 }, { holdMs: 0 }] : [{ holdMs: 1 }, { holdMs: 0 }];
  await compete([place], pair ?? contended, { processes: 2, tasks: 2, paces });
}
