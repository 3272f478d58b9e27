import { expect, it } from 'vitest';
import { type Hold, holdsIn, type WorldOptions } from './two-clocks.ts';

const SEEDS = 12;

async function holdsOf(options: Omit<WorldOptions, 'seed'>): Promise<readonly (readonly Hold[])[]> {
  const worlds: (readonly Hold[])[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) worlds.push(await holdsIn({ ...options, seed }));
  return worlds;
}

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
])('one at a time holds, and tokens grow: $how', { timeout: 60_000 }, async ({ slackMs }) => {
  const worlds = await holdsOf({ slackMs });
  expect(worlds.map(overlaps)).toEqual(worlds.map(() => 0));
  expect(worlds.every(sorted)).toBe(true);
  expect(worlds.flat().length).toBeGreaterThan(SEEDS * 10);
});

it.each([
  { how: 'times of the service that differ by more than it says', slackMs: 0, apartMs: 600 },
  { how: 'clocks that run apart by half', slackMs: undefined, drift: 0.5 },
])('two hold at once beyond what is promised: $how', { timeout: 60_000 }, async (options) => {
  const worlds = await holdsOf(options);
  expect(worlds.map(overlaps).reduce((sum, each) => sum + each)).toBeGreaterThan(0);
});
