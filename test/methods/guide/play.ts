import { isLockError } from 'holdfast';
import { expect } from 'vitest';
import type { Snippet } from '../tidy/snippets.ts';
import { isAt, namesIn, runBlock } from './blocks.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import type { World } from './world.ts';

/**
 * Runs a block once, to its end, in a world that gives it what it takes as given. It passes if it
 * ends, has called each function of the reader's that it names, has made locks that lock, if it
 * made any, and did what its scenario expects.
 */
export async function play(block: Snippet, world: World): Promise<void> {
  const scenario = SCENARIOS.find(isAt(block));
  try {
    await act(block, world, scenario);
    const uncalled = [...namesIn(block)].filter((name) => world.calls.get(name) === 0);
    expect(uncalled).toEqual(scenario?.uncalled ?? []);
    expect(world.printed.join('\n')).toContain(scenario?.prints ?? '');
    for (const locks of world.opened) {
      const held = await locks.mutex('tried').run({ wait: '20s' }, (lease) => lease.held);
      expect(held).toBe(true);
    }
  } finally {
    await world.close();
  }
}

async function act(block: Snippet, world: World, scenario: Scenario | undefined): Promise<void> {
  await scenario?.before?.(world);
  const running = runBlock(block, world);
  if (scenario?.rejects) {
    const { rejects } = scenario;
    const error: unknown = await running.then(undefined, (reason: unknown) => reason);
    expect(error).toSatisfy((reason: unknown) => isLockError(reason, rejects));
    return;
  }
  const [exported] = await Promise.all([running, scenario?.meanwhile?.(world)]);
  await scenario?.after?.(world, exported);
}
