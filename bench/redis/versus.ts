/** Everybody who wants a lock that others want too: ours, the floor and the other libraries. */
import { type Result, report, shuffled } from '../result.ts';
import { type Columns, Crew, type CrowdRound, columns, type Job } from './crowd.ts';
import { observe, serverUrl } from './server.ts';

const ROUNDS = 1;
/** Of one contender in one round. */
const ROUND_MS = 700;

export interface Setting {
  readonly figure: string;
  readonly processes: number;
  /** In all processes together. */
  readonly tasks: number;
  readonly drained?: number;
}

const FLOOR = 'floor: queue and message';
const OURS = ['holdfast', 'holdfast, fair'];
const OTHERS = ['redlock', 'redis-semaphore', '@verrou/core', 'redlock-universal'];
const CONTENDERS = [FLOOR, ...OURS, ...OTHERS.flatMap((name) => [name, `${name}, tuned`])];

/** Reports a row for every contender, with each hold; `goals` are ours. */
export async function versus(
  { figure, processes, tasks, drained }: Setting,
  goals: (contender: string, measured: Columns, ratio: number) => Partial<Result>,
): Promise<void> {
  const url = serverUrl();
  const server = observe(url);
  const crew = new Crew(server);
  for (const holdMs of [1, 0]) {
    const rounds = new Map<string, CrowdRound[]>(CONTENDERS.map((name) => [name, []]));
    for (let n = 0; n < ROUNDS; n++) {
      for (const contender of shuffled(CONTENDERS)) {
        const job: Job = {
          ...{ contender, url, tasks, holdMs, forMs: ROUND_MS },
          ...(drained !== undefined && { drained }),
        };
        rounds.get(contender)?.push(await crew.round(job, processes));
      }
    }
    let floor = Number.NaN;
    for (const [contender, own] of rounds) {
      const measured = columns(own);
      if (contender === FLOOR) floor = measured['gap median ms'];
      const ratio = measured['gap median ms'] / floor;
      const what = `${contender}, hold ${holdMs} ms`;
      report({ figure, what, measured, ratio, ...goals(contender, measured, ratio) });
    }
  }
  crew.end();
  server.client.disconnect();
}
