import { describe, expect, it } from 'vitest';
import { inTest, type Notice } from './fault.ts';
import { notices, type Planted } from './noticing.ts';

const timed = inTest('test/stores/redis/a.test.ts', 'a');
const hung: Notice = { ...timed, hung: true };

/** What is asked fails as these say, in turn. */
function planted(...fails: readonly (Notice | undefined)[]): Planted {
  const left = fails[Symbol.iterator]();
  return { fails: async () => left.next().value };
}

describe('a fault is noticed', () => {
  it('by what fails as it is known to', async () => {
    for (const known of [timed, hung]) {
      expect(await notices(planted(known), known)).toBe(true);
      expect(await notices(planted(), known)).toBe(false);
    }
    expect(await notices(planted({ seed: 5 }), { seed: 3 })).toBe(true);
  });

  it('by what fails in another way, twice', async () => {
    for (const other of [hung, { file: 'test/stores/redis/a.test.ts' }]) {
      expect(await notices(planted(other), timed)).toBe(false);
      expect(await notices(planted(other, other), timed)).toBe(true);
    }
    expect(await notices(planted(timed), hung)).toBe(false);
  });
});
