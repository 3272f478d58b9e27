/**
 * Acquire and release when nobody else wants the same lock: one after another, and with many
 * resources at once. The floor is the bare client, with the same binding or package.
 */
import { atLeast, atOnce, type Candidate, compare } from '../measuring/result.ts';
import { type Acquire, type Connected, contender, type Place } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

const ROUNDS = 7;

export async function measure(places: readonly Place[]): Promise<void> {
  for (const place of places) {
    const subject = await subjectAt(place.url);
    const observer = await subject.observe(place);
    for (const names of subject.alone) {
      const contenders = new Map<string, Connected>();
      for (const name of names) contenders.set(name, await contender(subject, name)(place.url));
      await compared(contenders, { tasks: 1, pairs: subject.pairs[0], goal: subject.goals?.[0] });
      await compared(contenders, { tasks: 64, pairs: subject.pairs[1], goal: subject.goals?.[1] });
      for (const { close } of contenders.values()) await close();
    }
    await observer.close();
  }
}

interface Way {
  readonly tasks: number;
  readonly pairs: number;
}

interface Compared extends Way {
  /** Of the ratio of ours. */
  readonly goal?: number | undefined;
}

export function compared(
  contenders: ReadonlyMap<string, Connected>,
  { goal, ...way }: Compared,
): Promise<void> {
  return compare('pairs/s', candidatesOf(contenders, way), ROUNDS, ({ name, rateRatio }) =>
    name.startsWith('holdfast') && goal !== undefined ? atLeast(goal, rateRatio) : {},
  );
}

/** Each acquires and releases, so many times a round. */
export function candidatesOf(
  contenders: ReadonlyMap<string, Connected>,
  { tasks, pairs }: Way,
): Candidate[] {
  const way = tasks === 1 ? 'one after another' : `${tasks} resources at once`;
  return Array.from(contenders, ([name, connected]): Candidate => {
    if (connected.pairs) {
      const own = connected.pairs;
      return { name: `${name}, ${way}`, round: () => own(tasks, pairs) };
    }
    const acquires = Array.from({ length: tasks }, (_, n) => connected.task(`alone:${n}`));
    const once = (task: number): unknown => pair(acquires[task] as Acquire);
    return { name: `${name}, ${way}`, round: () => atOnce(tasks, pairs, once) };
  });
}

function pair(acquire: Acquire): unknown {
  const got = acquire();
  return got instanceof Promise ? got.then((release) => release()) : got();
}
