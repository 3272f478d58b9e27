/** 50 tasks of one process that ask for the same lock at once, each once, and then again. */
import type { Place } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';
import { compete } from './contended.ts';

export async function measure([place]: readonly [Place]): Promise<void> {
  const { contended } = await subjectAt(place.url);
  await compete([place], contended, { processes: 1, tasks: 50, drained: 500, gapMs: 0.02 });
}
