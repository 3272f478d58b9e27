/** One row of a figure's table, and one JSON line. */
export interface Result {
  readonly what: string;
  /** Column to number, in the order of the columns. */
  readonly measured: Readonly<Record<string, number>>;
  /** Ours to the floor beside it, or as the row says. */
  readonly ratio?: number | undefined;
  readonly goal?: string | undefined;
  readonly met?: boolean | undefined;
}

/** What could not be measured is no finite number, and left out. */
export function report(result: Result): void {
  const known = Object.entries(result.measured).filter(([, value]) => Number.isFinite(value));
  const { ratio, ...rest } = { ...result, measured: Object.fromEntries(known) };
  console.log(JSON.stringify({ ...rest, ...(Number.isFinite(ratio) && { ratio }) }));
}

/** The value below which this share of the samples lies. */
export function quantile(samples: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(samples: ArrayLike<number>): number {
  return quantile(samples, 0.5);
}

/** What one candidate did in one round. */
export interface Round {
  readonly perSecond: number;
  /** How long each operation took, in µs. */
  readonly micros: ArrayLike<number>;
  /** What an operation cost besides, by column. */
  readonly costs?: Readonly<Record<string, number>>;
}

export interface Candidate {
  readonly name: string;
  round(): Promise<Round>;
}

export interface Outcome {
  readonly name: string;
  readonly perSecond: number;
  readonly median: number;
  readonly p99: number;
  /** Operations a second, as a share of the first candidate's in the same round. */
  readonly rateRatio: number;
  /** Median time, as a multiple of the first candidate's in the same round. */
  readonly timeRatio: number;
  readonly costs: Readonly<Record<string, number>>;
}

/**
 * Lets the candidates take turns, so that whatever disturbs the machine disturbs all of them, each
 * round in an order of its own. The first round warms up and does not count; ratios are medians of
 * the ratios inside one round.
 */
export async function takeTurns(candidates: readonly Candidate[], n: number): Promise<Outcome[]> {
  const rounds: Round[][] = [];
  for (let i = 0; i <= n; i++) {
    const round: Round[] = [];
    for (const [at, candidate] of shuffled([...candidates.entries()])) {
      round[at] = await candidate.round();
    }
    if (i > 0) rounds.push(round);
  }
  return candidates.map(({ name }, at) => {
    const own = rounds.map((round) => round[at] as Round);
    const compare = (value: (round: Round) => number): number =>
      median(rounds.map((round) => value(round[at] as Round) / value(round[0] as Round)));
    const micros = own.flatMap((round) => Array.from(round.micros));
    const costs = Object.keys(own[0]?.costs ?? {}).map((name) => {
      return [name, median(own.map((round) => round.costs?.[name] ?? Number.NaN))] as const;
    });
    return {
      name,
      perSecond: median(own.map((round) => round.perSecond)),
      median: median(micros),
      p99: quantile(micros, 0.99),
      rateRatio: compare((round) => round.perSecond),
      timeRatio: compare((round) => median(round.micros)),
      costs: Object.fromEntries(costs),
    };
  });
}

/** Lets candidates take turns, and reports a row for each, with the ratio of rates. */
export async function compare(
  rate: string,
  candidates: readonly Candidate[],
  rounds: number,
  more: (outcome: Outcome) => Partial<Result> = () => ({}),
): Promise<void> {
  for (const outcome of await takeTurns(candidates, rounds)) {
    const { name: what, perSecond, median, p99, rateRatio: ratio, costs } = outcome;
    const measured = { [rate]: perSecond, 'median µs': median, 'p99 µs': p99, ...costs };
    report({ what, measured, ratio, ...more(outcome) });
  }
}

/** Runs `once` so many times, one after another, and waits only where there is a promise. */
export async function timed(times: number, once: () => unknown): Promise<Round> {
  const micros = new Float64Array(times);
  const start = performance.now();
  let before = start;
  for (let i = 0; i < times; i++) {
    const done = once();
    if (done instanceof Promise) await done;
    const after = performance.now();
    micros[i] = (after - before) * 1000;
    before = after;
  }
  return { perSecond: times / ((before - start) / 1000), micros };
}

/** The same by several tasks at once, so many times in all. */
export async function atOnce(
  tasks: number,
  times: number,
  once: (task: number) => unknown,
): Promise<Round> {
  const since = performance.now();
  const each = await Promise.all(
    Array.from({ length: tasks }, (_, task) => timed(Math.ceil(times / tasks), () => once(task))),
  );
  const micros = each.flatMap((own) => Array.from(own.micros));
  return { perSecond: micros.length / ((performance.now() - since) / 1000), micros };
}

/** In an order that is new each time, so that none always follows the same one. */
export function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((one) => ({ one, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
