/**
 * What an acquisition and its release ask of a database, by its own counters, and round trips by
 * the protocol. Each is measured alone, until all its sessions have ended, whose numbers come then.
 */
import { Crew } from '../measuring/crew.ts';
import { sleep } from '../measuring/processes.ts';
import { atOnce, report } from '../measuring/result.ts';
import { countingProxy } from '../measuring/round-trips.ts';
import { type Acquire, contender, difference, type Place } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';
import type { SqlSubject } from '../stores/sql.ts';

const PAIRS = 640;
const CROWD = { tasks: 100, holdMs: 0, forMs: 1_000 };
const PROCESSES = 4;

export async function measure([place]: readonly [Place]): Promise<void> {
  const subject = (await subjectAt(place.url)) as SqlSubject;
  const observer = await subject.observe(place);
  const proxy = await countingProxy(place.url, subject.protocol);
  const look = async (): Promise<Record<string, number>> => {
    while ((await observer.others()) > 0) await sleep(20);
    const { statements = Number.NaN } = await observer.work();
    return { statements, 'round trips': proxy.trips(), ...(await observer.facts()) };
  };
  const cost = async (what: string, run: () => Promise<number>): Promise<void> => {
    const before = await look();
    const times = await run();
    const work = Object.entries(difference(await look(), before));
    const measured = Object.fromEntries(work.map(([column, n]) => [column, n / times]));
    // Those with which a connection begins are among them.
    const met = (measured['round trips'] ?? Number.NaN) <= 2.1;
    const goal = { goal: 'round trips ≤ 2, but for connecting', met };
    report({ what, measured, ...(what.startsWith('holdfast') && goal) });
  };
  const alone = async (name: string, tasks: number): Promise<number> => {
    const { task, close } = await contender(subject, name)(proxy.url);
    const acquires = Array.from({ length: tasks }, (_, n) => task(`statements:${n}`));
    await atOnce(tasks, PAIRS, async (n) => (await (acquires[n] as Acquire)())());
    await close();
    return PAIRS;
  };
  const crowd = async (name: string): Promise<number> => {
    const crew = new Crew({ work: async () => ({}), close: () => {} });
    const { all } = await crew.round({ contender: name, url: proxy.url, ...CROWD }, PROCESSES);
    await crew.end();
    // Each process has taken a lock of its own before.
    return all.reduce((sum, one) => sum + one.acquisitions, PROCESSES);
  };

  for (const name of subject.alone[0]?.slice(0, 2) ?? []) {
    await cost(`${name}, one after another`, () => alone(name, 1));
    await cost(`${name}, 64 resources at once`, () => alone(name, 64));
  }
  for (const name of [subject.contended[0] ?? '', 'holdfast, fair']) {
    const what = `${name}, ${PROCESSES} processes of ${CROWD.tasks / PROCESSES}`;
    await cost(what, () => crowd(name));
  }
  proxy.close();
  await observer.close();
}
