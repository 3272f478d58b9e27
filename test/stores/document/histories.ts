/**
 * What real processes write down is linearizable, while they are stopped, killed and blocked, and
 * the service stands still and crashes, which loses replies.
 * Long runs: `test/methods/histories/run.ts --store NAME`.
 */
import { test } from 'vitest';
import { expectLegal } from '../../methods/histories/legal.ts';
import type { Suffering } from '../../methods/histories/suffering.ts';

/** `why` it has to be skipped, if it has to. */
export function documentHistory(
  start: () => Promise<Suffering>,
  { seed, why }: { readonly seed: number; readonly why?: string | undefined },
): void {
  const title = 'four processes and their server suffer: the history is legal';
  test(title, async ({ skip }) => {
    if (why !== undefined) skip(why);
    await expectLegal(await start(), { seed });
  });
}
