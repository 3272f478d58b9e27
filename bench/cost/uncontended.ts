/**
 * Acquire and release of a free lock: one after another, and with many
 * resources at once. The floor is the bare client, with the same binding or package.
 * Beside its rate stands the processor time of a pair, of this process and of the server.
 */
import { atOnce, type Candidate, compare, type Round } from '../measuring/result.ts';
import {
  type Acquire,
  type Connected,
  contender,
  type Observer,
  type Place,
  type Subject,
} from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

const ROUNDS = 7;
/** As `pairs` and `goals` of a subject have them. */
const WAYS = [1, 64];

export async function measure([place]: readonly [Place]): Promise<void> {
  const subject = await subjectAt(place.url);
  const observer = await subject.observe(place);
  for (const names of subject.alone) {
    const contenders = await connectedOf(subject, names, place.url);
    for (const [n, tasks] of WAYS.entries()) {
      const pairs = subject.pairs[n] ?? 0;
      const candidates = candidatesOf(contenders, { tasks, pairs }).map((candidate) => ({
        ...candidate,
        round: () => withCpu(candidate.round, observer),
      }));
      const goal = subject.goals?.[n];
      await compare('pairs/s', candidates, ROUNDS, ({ name, rateRatio }) =>
        name.startsWith('holdfast') && goal !== undefined
          ? { goal: `ratio ≥ ${goal}`, met: rateRatio >= goal }
          : {},
      );
    }
    for (const { close } of contenders.values()) await close();
  }
  await observer.close?.();
}

/** The round, with the processor time that each of its pairs took. */
async function withCpu(round: () => Promise<Round>, observer: Observer): Promise<Round> {
  const serverMicros = async () => (await observer.work())['server CPU µs'] ?? Number.NaN;
  const server = await serverMicros();
  const client = process.cpuUsage();
  const done = await round();
  const { user, system } = process.cpuUsage(client);
  const pairs = done.micros.length;
  const costs = {
    'client CPU µs': (user + system) / pairs,
    'server CPU µs': ((await serverMicros()) - server) / pairs,
  };
  return { ...done, costs };
}

export async function connectedOf(
  subject: Subject,
  names: readonly string[],
  url: string,
): Promise<Map<string, Connected>> {
  const contenders = new Map<string, Connected>();
  for (const name of names) contenders.set(name, await contender(subject, name)(url));
  return contenders;
}

/** Each acquires and releases, so many times a round. */
export function candidatesOf(
  contenders: ReadonlyMap<string, Connected>,
  { tasks, pairs }: { readonly tasks: number; readonly pairs: number },
): Candidate[] {
  const way = tasks === 1 ? 'one after another' : `${tasks} resources at once`;
  return Array.from(contenders, ([name, connected]): Candidate => {
    const acquires = Array.from({ length: tasks }, (_, n) => connected.task(`alone:${n}`));
    const once = (task: number): unknown => pair(acquires[task] as Acquire);
    return { name: `${name}, ${way}`, round: () => atOnce(tasks, pairs, once) };
  });
}

function pair(acquire: Acquire): unknown {
  const got = acquire();
  return got instanceof Promise ? got.then((release) => release()) : got();
}
