/** Many tasks of one or more processes that want the same lock, and what came of it. */
import { type ChildProcess, fork } from 'node:child_process';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sleep } from '../processes.ts';
import { median, quantile } from '../result.ts';

const HERE = fileURLToPath(import.meta.url);

/** What the processes have to do. */
export interface Job {
  readonly contender: string;
  readonly url: string;
  /** In all processes together. */
  readonly tasks: number;
  readonly holdMs: number;
  readonly forMs: number;
  /**
   * All tasks ask at once, each once, and again when all have had their turn, until there were so
   * many. Default: each task asks again as soon as it has released.
   */
  readonly drained?: number;
  /**
   * What happens until then does not count, nor what happens after `forMs`: a queue that has yet to
   * form asks for more than one that stands, and one that is emptied for less. Default: all counts.
   */
  readonly settleMs?: number;
}

/** The same for one of them. */
export interface OwnJob extends Job {
  readonly resource: string;
}

/** In ns of the machine's monotonic clock, which all its processes share. */
export type Turn = [asked: number, granted: number, released: number];

export interface Happened {
  readonly turns: readonly Turn[];
  /** In ns; of those who ask together only if all of them had their turn. */
  readonly waits: readonly number[];
  /** Waits that lasted beyond the end. */
  readonly late: readonly number[];
  readonly acquisitions: number;
  /** How often the library gave up. */
  readonly failures: number;
  /** Some still waited a while after the end, and the process is gone. */
  readonly stuck: boolean;
}

/** What the server has done so far, by the columns of the table, where it is for an acquisition. */
export type Work<C extends string> = Readonly<Record<C, number>>;

/** What all processes did in one round. */
export interface CrowdRound<C extends string> {
  readonly perAcquisitionMs: number;
  /** From a release to the next grant, where that went to somebody who already waited. */
  readonly gapsMs: readonly number[];
  readonly waitsMs: readonly number[];
  readonly longestMs: number;
  readonly acquisitions: number;
  readonly work: Work<C>;
  readonly failures: number;
}

/** Processes that stay, so that no round begins with a start of Node. */
export class Crew<C extends string> {
  #members: Member[] = [];
  #rounds = 0;
  readonly #script: string;
  readonly #work: (contender: string) => Promise<Work<C>>;

  /** `bench/<script>` calls `member`; `work` asks the server. */
  constructor(script: string, work: (contender: string) => Promise<Work<C>>) {
    this.#script = script;
    this.#work = work;
  }

  /** On a lock that nobody had before. */
  async round(job: Job, processes: number): Promise<CrowdRound<C>> {
    while (this.#members.length < processes) this.#members.push(new Member(this.#script));
    const members = this.#members.slice(0, processes);
    const resource = `${job.contender}:${this.#rounds++}`;
    const own: OwnJob = { ...job, resource, tasks: job.tasks / processes };
    await Promise.all(members.map((member) => member.ask(own)));
    const go = (): Promise<Happened[]> =>
      Promise.all(members.map((member) => member.ask('go') as Promise<Happened>));
    const { all, before, after } = await this.#watch(job, go);
    all.forEach(({ stuck }, n) => stuck && members[n]?.end());
    this.#members = this.#members.filter((member) => member.alive);
    const counted = job.settleMs === undefined ? all : between(all, before.at, after.at);
    return summary(counted, difference(after.work, before.work));
  }

  async #watch(job: Job, go: () => Promise<Happened[]>): Promise<Watched<C>> {
    const look = async (): Promise<Look<C>> => {
      const work = await this.#work(job.contender);
      return { at: Number(process.hrtime.bigint()), work };
    };
    if (job.settleMs === undefined) {
      const before = await look();
      return { before, all: await go(), after: await look() };
    }
    const going = go();
    await sleep(job.settleMs);
    const before = await look();
    await sleep(job.forMs - job.settleMs);
    const after = await look();
    return { before, all: await going, after };
  }

  end(): void {
    for (const member of this.#members) member.end();
  }
}

class Member {
  alive = true;
  readonly #process: ChildProcess;
  #answered: (answer: unknown) => void = () => {};
  #failed: (error: Error) => void = () => {};

  constructor(script: string) {
    const file = join(HERE, '../..', script + extname(HERE));
    this.#process = fork(file, { stdio: 'inherit' });
    this.#process.on('message', (answer) => this.#answered(answer));
    this.#process.once('exit', (code) => this.#failed(new Error(`a worker ended with ${code}`)));
  }

  ask(message: OwnJob | 'go'): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#process.send(message);
    });
  }

  end(): void {
    this.alive = false;
    this.#process.kill('SIGKILL');
  }
}

interface Look<C extends string> {
  readonly at: number;
  readonly work: Work<C>;
}

interface Watched<C extends string> {
  readonly all: readonly Happened[];
  readonly before: Look<C>;
  readonly after: Look<C>;
}

function between(all: readonly Happened[], from: number, to: number): Happened[] {
  return all.map((one) => {
    const turns = one.turns.filter(([, granted]) => granted >= from && granted < to);
    return { ...one, turns, acquisitions: turns.length };
  });
}

function difference<C extends string>(after: Work<C>, before: Work<C>): Work<C> {
  const columns = Object.keys(after) as C[];
  return Object.fromEntries(columns.map((one) => [one, after[one] - before[one]])) as Work<C>;
}

function summary<C extends string>(all: readonly Happened[], work: Work<C>): CrowdRound<C> {
  const turns = all.flatMap((one) => [...one.turns]).sort((a, b) => a[1] - b[1]);
  const waits = all.flatMap((one) => one.waits);
  const gaps: number[] = [];
  for (let n = 1; n < turns.length; n++) {
    const [[, , released], [asked, granted]] = [turns[n - 1], turns[n]] as [Turn, Turn];
    if (granted < released) throw new Error('Two held the lock at once.');
    if (asked < released) gaps.push((granted - released) / 1e6);
  }
  const lasted = (turns.at(-1)?.[1] ?? 0) - (turns[0]?.[1] ?? 0);
  const sum = (value: (one: Happened) => number): number =>
    all.reduce((total, one) => total + value(one), 0);
  return {
    work,
    perAcquisitionMs: lasted / 1e6 / (turns.length - 1),
    gapsMs: gaps,
    waitsMs: waits.map((ns) => ns / 1e6),
    longestMs: quantile([...waits, ...all.flatMap((one) => one.late)], 1) / 1e6,
    acquisitions: sum((one) => one.acquisitions),
    failures: sum((one) => one.failures),
  };
}

/** What all figures of crowds have, besides what their server counts. */
type Common =
  | 'ms an acquisition'
  | 'gap median ms'
  | 'gap p99 ms'
  | 'longest wait / median'
  | 'failures';

export type Columns<C extends string> = Readonly<Record<Common | C, number>>;

export function columns<C extends string>(rounds: readonly CrowdRound<C>[]): Columns<C> {
  const sum = (value: (round: CrowdRound<C>) => number): number =>
    rounds.reduce((total, round) => total + value(round), 0);
  const acquisitions = sum((round) => round.acquisitions);
  const gaps = rounds.flatMap((round) => round.gapsMs);
  const waits = rounds.flatMap((round) => round.waitsMs);
  const longest = Math.max(...rounds.map((round) => round.longestMs));
  const counted = Object.keys(rounds[0]?.work ?? {}) as C[];
  return {
    'ms an acquisition': median(rounds.map((round) => round.perAcquisitionMs)),
    'gap median ms': median(gaps),
    'gap p99 ms': quantile(gaps, 0.99),
    ...Object.fromEntries(counted.map((one) => [one, sum(({ work }) => work[one]) / acquisitions])),
    'longest wait / median': longest / median(waits),
    failures: sum((round) => round.failures),
  } as Columns<C>;
}
