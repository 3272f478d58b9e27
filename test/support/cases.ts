import fc from 'fast-check';
import { AGAIN, RUN, shareOf } from './this-run.ts';

/** For `fc.assert`: so many cases, or a share of them, that are others in each run. */
export function cases<T>(whole: number): fc.Parameters<T> {
  return {
    seed: RUN,
    numRuns: shareOf(whole),
    reporter(run) {
      if (!run.failed) return;
      const message = `${AGAIN}: ${fc.defaultReportMessage(run)}`;
      throw new Error(message, { cause: run.errorInstance });
    },
  };
}
