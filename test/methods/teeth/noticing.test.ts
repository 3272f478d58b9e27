import { describe, expect, it } from 'vitest';
import type { Notice } from './kinds.ts';
import { firstNotice, notices, type Planted } from './noticing.ts';

const timed: Notice = { file: 'test/stores/redis/a.test.ts', test: 'a' };
const hung: Notice = { ...timed, hung: true };
const simulated: Notice = { file: 'test/core/a.test.ts', test: 'a' };

/** What is asked fails as these say, in turn. */
function planted(...fails: readonly (Notice | undefined)[]): Planted {
  const left = fails[Symbol.iterator]();
  return {
    fails: async () => left.next().value,
    isTimed: ({ file }) => file === timed.file,
  };
}

describe('a fault is noticed', () => {
  it('by what fails as it is known to', async () => {
    for (const known of [timed, hung, simulated]) {
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

  it('first by what fails again', async () => {
    const found = [timed, timed, simulated][Symbol.iterator]();
    const search = async (): Promise<Notice | undefined> => found.next().value;
    expect(await firstNotice(planted(undefined, timed), search)).toBe(timed);
    expect(await firstNotice(planted(), search)).toBe(simulated);
    expect(await firstNotice(planted(), search)).toBeUndefined();
    expect(await firstNotice(planted(), async () => timed)).toBeUndefined();
  });
});
