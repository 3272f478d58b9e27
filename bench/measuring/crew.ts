/** Many tasks of one or more processes that want the same lock, and what came of it. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { subjectAt } from '../stores/index.ts';
import { type Happened, type Job, MEMBER, type OwnJob, type Turn } from './member.ts';
import { call, now } from './processes.ts';
import { median, quantile } from './result.ts';
import { contender, difference, type Observer, type Place, type Work } from './subject.ts';

/** What all processes did in one round. */
export interface Round {
  readonly job: Job;
  readonly all: readonly Happened[];
  /** That of servers too. */
  readonly work: Work;
}

/** A round of each job, by processes that stay, so that none begins with a start of Node. */
export async function roundsOf(
  place: Place,
  processes: number,
  jobs: readonly Job[],
): Promise<Round[]> {
  const subject = await subjectAt(place.url);
  const observer = await subject.observe(place);
  // Some contenders make their tables at the first use, which several cannot do at once.
  for (const name of new Set(jobs.map((job) => job.contender))) {
    const { task, close } = await contender(subject, name)(place.url);
    await (await task(`first:${name}`)())();
    await close();
  }
  let members: ChildProcess[] = [];
  const rounds: Round[] = [];
  for (const [n, job] of jobs.entries()) {
    while (members.length < processes) members.push(call(MEMBER, 'member'));
    // A lock that was never held before.
    const resource = `${job.contender}:${n}`;
    const own: OwnJob = { ...job, url: place.url, tasks: job.tasks / processes, resource };
    await Promise.all(members.map((member) => ask(member, own)));
    const going = Promise.all(members.map((member) => ask(member, 'go') as Promise<Happened>));
    const round = await watch(observer, job, going);
    rounds.push(round);
    members = members.filter((_, at) => !round.all[at]?.stuck);
  }
  for (const member of members) member.kill('SIGKILL');
  await observer.close?.();
  return rounds;
}

async function ask(member: ChildProcess, message: OwnJob | 'go'): Promise<unknown> {
  const answer = once(member, 'message');
  member.send(message);
  return (await answer)[0];
}

/** Between the times that count. */
async function watch(observer: Observer, job: Job, going: Promise<Happened[]>): Promise<Round> {
  await sleep(job.settleMs);
  const [before, from] = [await observer.work(job.contender), now()];
  await sleep(job.forMs - job.settleMs);
  const [after, to] = [await observer.work(job.contender), now()];
  const all = (await going).map((one) => ({
    ...one,
    turns: one.turns.filter(([, granted]) => granted >= from && granted < to),
  }));
  // With what the processes have counted themselves.
  const work: Record<string, number> = { ...difference(after, before) };
  for (const [name, n] of all.flatMap(({ counts }) => Object.entries(counts))) {
    work[name] = (work[name] ?? 0) + n;
  }
  return { job, all, work };
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
  const acquisitions = turns.length;
  const each = Object.entries(work).map(([of, n]) => [`${of} an acquisition`, n / acquisitions]);
  const least = Math.min(...all.map((one) => one.turns.length));
  return {
    'ms an acquisition': lasted / 1e6 / (acquisitions - 1),
    'gap median ms': median(gaps),
    'gap p99 ms': quantile(gaps, 0.99),
    ...Object.fromEntries(each),
    'longest wait / median': quantile([...waits, ...late], 1) / median(waits),
    'least share %': (100 * least * all.length) / acquisitions,
    failures: all.reduce((sum, one) => sum + one.failures, 0),
  };
}
