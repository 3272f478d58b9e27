import { describe, expect, it } from 'vitest';
import { World } from './world.ts';

const SEEDS = Array.from({ length: 40 }, (_, i) => i + 1);

describe.each([
  { members: 3, clients: 3, forgets: false },
  { members: 3, clients: 4, forgets: true },
  { members: 5, clients: 3, forgets: true },
])('$members members, $clients clients, losses of memory: $forgets', (options) => {
  it.each(SEEDS)(
    'one holds at a time, tokens grow, and everybody gets on: seed %i',
    async (seed) => {
      const world = new World({ ...options, seed, rounds: 4 });
      await world.run();
      expect(world.grants).toHaveLength(4 * options.clients);
    },
  );
});
