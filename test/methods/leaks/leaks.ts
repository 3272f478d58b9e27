/** Nothing may be left of a call when it is over, in the process and at the server. */
import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WHOLE } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { CALLS, type Call } from './calls.ts';
import { expectNoLeak, more, resources } from './measure.ts';
import { type Ground, LANES, World } from './world.ts';

const ROUNDS = 10_000;
/** With fewer, what comes and goes in the process would pass for a leak. */
const FEWEST = 400;

export function leakTests(
  store: string,
  prepare: () => Ground | Promise<Ground>,
  calls: Iterable<string> = CALLS.keys(),
): void {
  describe(`${store} keeps nothing of`, () => {
    let ground: Ground;
    beforeAll(async () => {
      ground = await prepare();
    });
    afterAll(() => ground.close());

    it.each([...calls])('%s', async (name) => {
      const call = CALLS.get(name) ?? expect.unreachable(`There is no call '${name}'.`);
      const world = await World.open(ground);
      try {
        await expectNothingKept(ground, world, call);
      } finally {
        await world.close();
      }
    });
  });
}

async function expectNothingKept(ground: Ground, world: World, call: Call): Promise<void> {
  const half = share(call.connects ? ground.connects : (ground.rounds ?? ROUNDS)) / 2;
  const run = async (): Promise<void> => {
    const each = half / LANES;
    await Promise.all(
      world.lanes.map(async (lane) => {
        for (let i = 0; i < each; i++) {
          await call.round(lane);
          // Node frees some of what is garbage only when the event loop has turned.
          await new Promise((resolve) => setImmediate(resolve));
        }
      }),
    );
  };
  await run();
  // Before the connections are counted that it needs.
  await world.inUse();
  const [there, here] = [await ground.left?.(), resources()];
  await expectNoLeak({ rounds: half, connects: call.connects }, run);
  await world.end();
  expect(getEventListeners(world.signal, 'abort')).toEqual([]);
  await until('was all given back', async () => {
    expect(await world.inUse()).toEqual([]);
    const left = await ground.left?.();
    expect(more(there ?? {}, left ?? {})).toEqual([]);
    expect(more(here, resources())).toEqual([]);
    return true;
  });
}

/** A third, unless everything is run; each half is the same for all lanes. */
function share(rounds: number): number {
  if (WHOLE || rounds <= FEWEST) return rounds;
  const step = 2 * LANES;
  return Math.max(FEWEST, Math.ceil(rounds / 3 / step) * step);
}
