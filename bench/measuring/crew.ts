/** Many tasks of one or more processes that want the same lock, and what came of it. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { subjectAt } from '../stores/index.ts';
import { type Happened, type Job, MEMBER, type OwnJob, type Turn } from './member.ts';
import { call, now, sleep } from './processes.ts';
import { median, quantile, shuffled } from './result.ts';
import { contender, difference, type Observer, type Place, type Work } from './subject.ts';

/** What all processes did in one round. */
export interface Round {
  readonly all: readonly Happened[];
  /** That of servers too. */
  readonly work: Work;
}

/** Processes that stay, so that no round begins with a start of Node. */
export class Crew {
  #members: Member[] = [];
  #rounds = 0;
  readonly #observer: Observer;

  /** Some contenders make their tables at the first use, which several cannot do at once. */
  static async at(place: Place, contenders: readonly string[]): Promise<Crew> {
    const subject = await subjectAt(place.url);
    const observer = await subject.observe(place);
    for (const name of contenders) {
      const { task, close } = await contender(subject, name)(place.url);
      await (await task(`first:${name}`)())();
      await close();
    }
    return new Crew(observer);
  }

  private constructor(observer: Observer) {
    this.#observer = observer;
  }

  /** On a lock that was never held before. */
  async round(job: Job, processes: number): Promise<Round> {
    while (this.#members.length < processes) this.#members.push(new Member());
    const members = this.#members.slice(0, processes);
    const resource = `${job.contender}:${this.#rounds++}`;
    const own: OwnJob = { ...job, tasks: job.tasks / processes, resource };
    await Promise.all(members.map((member) => member.ask(own)));
    const go = (): Promise<Happened[]> =>
      Promise.all(members.map((member) => member.ask('go') as Promise<Happened>));
    const { all, work } = await this.#watch(job, go);
    all.forEach(({ stuck }, n) => stuck && members[n]?.end());
    this.#members = this.#members.filter((member) => member.alive);
    // With what the processes have counted themselves.
    const sum: Record<string, number> = { ...work };
    for (const [name, n] of all.flatMap(({ counts }) => Object.entries(counts))) {
      sum[name] = (sum[name] ?? 0) + n;
    }
    return { all, work: sum };
  }

  /** Between the times that count. */
  async #watch(job: Job, go: () => Promise<Happened[]>): Promise<Round> {
    const look = (): Promise<Work> => this.#observer.work(job.contender);
    const going = go();
    await sleep(job.settleMs);
    const [before, from] = [await look(), now()];
    await sleep(job.forMs - job.settleMs);
    const [after, to] = [await look(), now()];
    const all = (await going).map((one) => {
      const turns = one.turns.filter(([, granted]) => granted >= from && granted < to);
      return { ...one, turns, acquisitions: turns.length };
    });
    return { all, work: difference(after, before) };
  }

  async end(): Promise<void> {
    for (const member of this.#members) member.end();
    await this.#observer.close();
  }
}

/** Of one round of the crew. */
type Pace = Omit<Job, 'contender' | 'url'>;

/** A round of each, in an order that is new each time. */
export async function roundsOf(
  place: Place,
  contenders: readonly string[],
  { processes, ...pace }: Pace & { readonly processes: number },
): Promise<Map<string, Round>> {
  const crew = await Crew.at(place, contenders);
  const rounds = new Map<string, Round>();
  for (const contender of shuffled(contenders)) {
    rounds.set(contender, await crew.round({ contender, url: place.url, ...pace }, processes));
  }
  await crew.end();
  return rounds;
}

class Member {
  alive = true;
  readonly #process: ChildProcess = call(MEMBER, 'member');

  async ask(message: OwnJob | 'go'): Promise<unknown> {
    const answer = once(this.#process, 'message');
    this.#process.send(message);
    return (await answer)[0];
  }

  end(): void {
    this.alive = false;
    this.#process.kill('SIGKILL');
  }
}

/** Of the table; what servers and processes counted is for an acquisition. */
export function columns({ all, work }: Round): Record<string, number> {
  const turns = all.flatMap((one) => [...one.turns]).sort((a, b) => a[1] - b[1]);
  const waits = all.flatMap((one) => one.waits);
  const late = all.flatMap((one) => one.late);
  /** From a release to the next grant, where that went to a task that already waited. */
  const gaps: number[] = [];
  for (let n = 1; n < turns.length; n++) {
    const [[, , released], [asked, granted]] = [turns[n - 1], turns[n]] as [Turn, Turn];
    if (granted < released) throw new Error('Two held the lock at once.');
    if (asked < released) gaps.push((granted - released) / 1e6);
  }
  const lasted = (turns.at(-1)?.[1] ?? 0) - (turns[0]?.[1] ?? 0);
  const acquisitions = all.reduce((sum, one) => sum + one.acquisitions, 0);
  const each = Object.entries(work).map(([of, n]) => [`${of} an acquisition`, n / acquisitions]);
  const least = Math.min(...all.map((one) => one.acquisitions));
  return {
    'ms an acquisition': lasted / 1e6 / (turns.length - 1),
    'gap median ms': median(gaps),
    'gap p99 ms': quantile(gaps, 0.99),
    ...Object.fromEntries(each),
    'longest wait / median': quantile([...waits, ...late], 1) / median(waits),
    'least share %': (100 * least * all.length) / acquisitions,
    failures: all.reduce((sum, one) => sum + one.failures, 0),
  };
}
