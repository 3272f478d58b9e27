/**
 * What wake-ups cost in a cluster, whose nodes pass each published message on to all others, so
 * that one subscription hears of every slot. Beside it, the same crowd on one server.
 */
import type { Place } from '../measuring/subject.ts';
import { compete } from './contended.ts';

export async function measure(places: readonly Place[]): Promise<void> {
  const paces = [{ holdMs: 1 }];
  await compete(places, ['holdfast, fair'], { processes: 2, tasks: 20, paces });
}
