/**
 * 5 processes that want the same lock all the time, with more and more tasks: what a hand-off costs
 * must not grow with the number of those who wait. The picture in docs/images shows it.
 */
import { report, shuffled } from '../result.ts';
import { type Columns, Crew, type CrowdRound, columns } from './crowd.ts';
import { observe, serverUrl } from './server.ts';

const FIGURE = 'redis/waiters';
const ROUNDS = 2;
const ROUND_MS = 800;
const PROCESSES = 5;
const TASKS = [10, 100, 1_000];

const FLOOR = 'floor: queue and message';
const OURS = 'holdfast, fair';
const OTHERS = ['redlock', 'redis-semaphore', '@verrou/core', 'redlock-universal'];
const CONTENDERS = [FLOOR, OURS, ...OTHERS.flatMap((name) => [name, `${name}, tuned`])];

const url = serverUrl();
const server = observe(url);
const crew = new Crew(server);
const rounds = new Map<string, CrowdRound[]>();
for (let n = 0; n < ROUNDS; n++) {
  for (const tasks of TASKS) {
    for (const contender of shuffled(CONTENDERS)) {
      const job = { contender, url, tasks, holdMs: 1, forMs: ROUND_MS };
      const row = `${contender}, ${tasks} waiters`;
      const own = rounds.get(row) ?? [];
      rounds.set(row, own);
      own.push(await crew.round(job, PROCESSES));
    }
  }
}
crew.end();
server.client.disconnect();

for (const contender of CONTENDERS) {
  for (const tasks of TASKS) {
    const gap = (who: string, many: number): number => measuredOf(who, many)['gap median ms'];
    const measured = measuredOf(contender, tasks);
    const ratio = gap(contender, tasks) / gap(FLOOR, tasks);
    const flat = gap(OURS, tasks) / gap(OURS, 10);
    const met = flat <= 1.3 && measured['commands an acquisition'] <= 2.5;
    const goal = 'gap ≤ 1.3 × that of 10 waiters, commands ≤ 2.5';
    const what = `${contender}, ${tasks} waiters`;
    report({ figure: FIGURE, what, measured, ratio, ...(contender === OURS && { goal, met }) });
  }
}

/** The longest wait among 1,000 is longer than a round. */
function measuredOf(contender: string, tasks: number): Columns {
  const all = columns(rounds.get(`${contender}, ${tasks} waiters`) ?? []);
  return { ...all, 'longest wait / median': Number.NaN };
}
