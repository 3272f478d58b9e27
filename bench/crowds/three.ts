/** What it costs that three servers have to agree: uncontended, and passed on by two processes. */
import { compared } from '../cost/uncontended.ts';
import { type Connected, contender, type Place } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';
import { compete } from './contended.ts';

const PAIRS = 300;

export async function measure(places: readonly Place[]): Promise<void> {
  const subject = await subjectAt(places[0]?.url ?? '');
  const connected = new Map<string, Connected>();
  for (const name of [subject.alone[0]?.[0] ?? '', 'holdfast']) {
    for (const { name: where, url } of places) {
      connected.set(`${name}, ${where}`, await contender(subject, name)(url));
    }
  }
  await compared(connected, { tasks: 1, pairs: PAIRS });
  for (const { close } of connected.values()) await close();
  const contenders = [subject.contended[0] ?? '', 'holdfast, fair'];
  await compete(places, contenders, { processes: 2, tasks: 2 });
}
