/**
 * Processes that want the same lock all the time, with more and more tasks: what a hand-off costs
 * must not grow with the number of those who wait.
 */
import { type Result, report, shuffled } from '../result.ts';
import { type Columns, type Crew, type CrowdRound, columns } from './crowd.ts';

export interface Crowds<C extends string> {
  readonly figure: string;
  readonly url: string;
  readonly crew: Crew<C>;
  /** The floor comes first. */
  readonly contenders: readonly string[];
  readonly processes: number;
  /** In all processes together. */
  readonly tasks: readonly number[];
  readonly rounds: number;
  /** Of one contender in one round. */
  readonly roundMs: number;
  readonly settleMs?: number;
}

/** `goals` are ours; `growth` is that of the gap since the smallest crowd. */
export async function moreAndMore<C extends string>(
  { figure, url, crew, contenders, processes, tasks, settleMs, ...extent }: Crowds<C>,
  goals: (contender: string, measured: Columns<C>, growth: number) => Partial<Result>,
): Promise<void> {
  const rounds = new Map<string, CrowdRound<C>[]>();
  for (let n = 0; n < extent.rounds; n++) {
    for (const many of tasks) {
      for (const contender of shuffled(contenders)) {
        const job = {
          ...{ contender, url, tasks: many, holdMs: 1, forMs: extent.roundMs },
          ...(settleMs !== undefined && { settleMs }),
        };
        const row = `${contender}, ${many} waiters`;
        const own = rounds.get(row) ?? [];
        rounds.set(row, own);
        own.push(await crew.round(job, processes));
      }
    }
  }
  crew.end();

  const [floor = '', [least = 0]] = [contenders[0], tasks];
  for (const contender of contenders) {
    for (const many of tasks) {
      const gap = (who: string, crowd: number): number => of(who, crowd)['gap median ms'];
      const measured = of(contender, many);
      const ratio = gap(contender, many) / gap(floor, many);
      const growth = gap(contender, many) / gap(contender, least);
      const what = `${contender}, ${many} waiters`;
      report({ figure, what, measured, ratio, ...goals(contender, measured, growth) });
    }
  }

  /** The longest wait in a great crowd is longer than a round. */
  function of(contender: string, many: number): Columns<C> {
    const all = columns(rounds.get(`${contender}, ${many} waiters`) ?? []);
    return { ...all, 'longest wait / median': Number.NaN };
  }
}
