import { Cron } from 'croner';
import type { Locks } from 'holdfast';

export interface Job {
  readonly locks: Locks;
  readonly build: (signal: AbortSignal) => Promise<void>;
  readonly log: (line: string) => void;
}

/** Every machine calls this; each night one of them builds the report. */
export function nightlyReport({ locks, build, log }: Job): Cron {
  const options = { timezone: 'UTC', catch: true };
  return new Cron('0 3 * * *', options, async () => {
    const mutex = locks.mutex('nightly-report', { minHold: '20s', maxHold: '6h' });
    const result = await mutex.tryRun(({ signal }) => build(signal));
    const [other] = result.acquired ? [] : result.holders;
    log(result.acquired ? 'built' : `left to ${other?.holder.label ?? 'another machine'}`);
  });
}
