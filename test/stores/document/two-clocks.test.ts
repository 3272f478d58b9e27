import { expect, it } from 'vitest';
import { AGAIN, seedsOf } from '../../support/this-run.ts';
import { type Hold, holdsIn } from './two-clocks.ts';

/** Pairs of which the second began before the first had ended. */
function overlaps(holds: readonly Hold[]): number {
  return holds.filter(({ from }, i) => holds.slice(0, i).some(({ to }) => to > from)).length;
}

function sorted(holds: readonly Hold[]): boolean {
  return holds.every(({ token }, i) => i === 0 || token > (holds[i - 1] as Hold).token);
}

it.each([
  { how: 'a service that tells its time', slackMs: 0 },
  { how: 'a service whose servers differ', slackMs: 100 },
  { how: 'a service without a clock', slackMs: undefined },
])('one at a time holds, and tokens grow: $how', async ({ slackMs }) => {
  for (const seed of seedsOf(12)) {
    const holds = await holdsIn({ slackMs, seed });
    const world = `seed ${seed}, ${AGAIN}`;
    expect(overlaps(holds), world).toBe(0);
    expect(sorted(holds), world).toBe(true);
    expect(holds.length, world).toBeGreaterThan(5);
  }
});

it.each([
  { how: 'times of the service that differ by more than it says', slackMs: 0, apartMs: 600 },
  { how: 'clocks that run apart by half', slackMs: undefined, drift: 0.5 },
])('two hold at once beyond what is promised: $how', async (options) => {
  for (const seed of seedsOf(300)) {
    if (overlaps(await holdsIn({ ...options, seed })) > 0) return;
  }
  expect.fail(`never, ${AGAIN}`);
});
