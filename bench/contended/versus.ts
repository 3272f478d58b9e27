/** Everybody who wants a lock that others want too: ours, the floor and the other libraries. */
import { type Result, report, shuffled } from '../result.ts';
import { type Columns, type Crew, type CrowdRound, columns } from './crowd.ts';

export interface Setting<C extends string> {
  readonly figure: string;
  readonly url: string;
  readonly crew: Crew<C>;
  /** The floor comes first. */
  readonly contenders: readonly string[];
  readonly processes: number;
  /** In all processes together. */
  readonly tasks: number;
  readonly drained?: number;
  readonly settleMs?: number;
  readonly rounds: number;
  /** Of one contender in one round. */
  readonly roundMs: number;
}

/** Reports a row for every contender, with each hold; `goals` are ours. */
export async function versus<C extends string>(
  setting: Setting<C>,
  goals: (contender: string, measured: Columns<C>, ratio: number) => Partial<Result>,
): Promise<void> {
  const { figure, url, crew, contenders, processes, tasks, roundMs } = setting;
  const { drained, settleMs } = setting;
  for (const holdMs of [1, 0]) {
    const rounds = new Map<string, CrowdRound<C>[]>(contenders.map((name) => [name, []]));
    for (let n = 0; n < setting.rounds; n++) {
      for (const contender of shuffled(contenders)) {
        const job = { contender, url, tasks, holdMs, forMs: roundMs };
        const all = {
          ...job,
          ...(drained !== undefined && { drained }),
          ...(settleMs !== undefined && { settleMs }),
        };
        rounds.get(contender)?.push(await crew.round(all, processes));
      }
    }
    let floor = Number.NaN;
    for (const [contender, own] of rounds) {
      const measured = columns(own);
      if (contender === contenders[0]) floor = measured['gap median ms'];
      const ratio = measured['gap median ms'] / floor;
      const what = `${contender}, hold ${holdMs} ms`;
      report({ figure, what, measured, ratio, ...goals(contender, measured, ratio) });
    }
  }
  crew.end();
}
