import { expect, it } from 'vitest';
import { MAX_PERMITS } from '../../../../src/contract/store.ts';
import { baseOf, placeIn, uuidOf } from '../../../../src/stores/zookeeper/places.ts';

const UUID = '8d3b1c5e-7a92-4f06-8b1d-0c9e5f7a2b34';
const OURS = uuidOf({ id: 'a'.repeat(32) });

it('what is no claim has no place', () => {
  for (const name of ['lock-', 'lock-1', `_c_${UUID}-latch-0000000000`, '_c_x-lock-0000000000']) {
    expect(placeIn(name)).toBeUndefined();
  }
  expect(placeIn('lock--2147483648')).toMatchObject({ sequence: -(2 ** 31), foreign: true });
  expect(placeIn(`_c_${UUID}-lock-0000000007`)).toMatchObject({ sequence: 7, id: UUID });
});

it('a name has all that decides admission', () => {
  const terms = { kind: 'permits', permits: 2, limit: 5 } as const;
  expect(placeIn(`_c_${OURS}-${baseOf(terms)}0000000007`)).toMatchObject({
    ...{ ...terms, id: OURS, sequence: 7, foreign: false },
  });
});

it("a mutex of Curator's is exclusive among permits too", () => {
  expect(placeIn(`_c_${UUID}-lock-0000000007`)).toMatchObject({ permits: MAX_PERMITS });
  expect(placeIn(`_c_${OURS}-lock-0000000007`)).toMatchObject({ permits: 1, foreign: false });
});

it('each recipe knows its own nodes, and no others', () => {
  const name = (base: string): string => `_c_${UUID}-${base}0000000007`;
  const latch = { kind: 'mutex', sequence: 7, foreign: true };
  expect(placeIn(name('latch-'), 'latch')).toMatchObject(latch);
  expect(placeIn(name('lease-'), 'semaphore')).toMatchObject({ kind: 'permits', permits: 1 });
  expect(placeIn(name('lock-'), 'semaphore')).toMatchObject({ kind: 'mutex' });
  for (const base of ['lock-', '__READ__', 'permits-1-of-1-', 'lease-']) {
    expect(placeIn(name(base), 'latch')).toBeUndefined();
  }
  for (const base of ['latch-', 'lease-']) expect(placeIn(name(base))).toBeUndefined();
  const mine = { kind: 'mutex', permits: 1, limit: 1 } as const;
  expect([baseOf(mine, 'latch'), baseOf(mine, 'semaphore')]).toEqual(['latch-', 'lock-']);
});
