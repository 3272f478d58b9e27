import { describe, expect, it } from 'vitest';
import type { Notice } from './kinds.ts';
import { firstNotice, notices, type Planted } from './noticing.ts';

const timed: Notice = { file: 'test/stores/redis/a.test.ts', test: 'a' };
const hung: Notice = { ...timed, hung: true };
const simulated: Notice = { file: 'test/core/a.test.ts', test: 'a' };

/** What is asked fails as these say, in turn. */
function planted(...fails: readonly boolean[]): Planted {
  const left = fails[Symbol.iterator]();
  return {
    fails: async ([notice]) => (left.next().value ? notice : undefined),
    isTimed: ({ file }) => file === timed.file,
  };
}

describe('a fault is noticed', () => {
  it('by a test on real clocks that fails twice', async () => {
    expect(await notices(planted(true, true), timed)).toBe(true);
    expect(await notices(planted(true, false), timed)).toBe(false);
    expect(await notices(planted(false), timed)).toBe(false);
  });

  it('by any other that fails', async () => {
    expect(await notices(planted(true, false), simulated)).toBe(true);
    expect(await notices(planted(true, false), { seed: 3 })).toBe(true);
    expect(await notices(planted(true, false), hung)).toBe(true);
    expect(await notices(planted(false), simulated)).toBe(false);
  });

  it('first by what fails again', async () => {
    const found = [timed, timed, simulated][Symbol.iterator]();
    const search = async (): Promise<Notice | undefined> => found.next().value;
    expect(await firstNotice(planted(false, true), search)).toBe(timed);
    expect(await firstNotice(planted(), search)).toBe(simulated);
    expect(await firstNotice(planted(), search)).toBeUndefined();
    expect(await firstNotice(planted(), async () => timed)).toBeUndefined();
  });
});
