/** The suite for fences, on those that need no server; and what it says of fences that are none. */
import { StaleTokenError, UnsupportedError } from 'holdfast';
import { type FenceFixture, fenceConformance } from 'holdfast/testkit';
import { describe, expect, test } from 'vitest';
import type { FencingToken } from '../../src/contract/token.ts';
import { raised as decide, type SeenToken } from '../../src/fences/rule.ts';
import { failures, type Registered } from '../testkit/registered-cases.ts';
import { sqliteNumber } from './sqlite-number.ts';

describe('SQLite', () => {
  fenceConformance({ test, create: sqliteNumber });
});

const raised: Passing = (lease, seen) => decide('enter', lease, () => seen);

/** What the fence has seen after it, unless it is refused. */
type Passing = (lease: FencingToken, seen: SeenToken | undefined) => SeenToken | undefined;

type Weakness = { readonly enter?: Passing; readonly write?: Passing };

/** A fence in a variable, perhaps with a weakness. */
function inMemory({ enter = raised, write = checked }: Weakness = {}): FenceFixture {
  let seen: SeenToken | undefined;
  let number = 0;
  return {
    look: async () => number,
    async adopt({ lineage, token }) {
      seen = { lineage, token, floor: 0n };
    },
    async enter(lease) {
      if (lease.kind === 'permits') throw new UnsupportedError('fence', 'no');
      seen = enter(lease, seen);
      return {
        read: async () => number,
        async write(value) {
          seen = write(lease, seen);
          number = value;
        },
      };
    },
  };
}

const unchanged: Passing = (_, seen) => seen;

const checked: Passing = (lease, seen) => {
  if (seen === undefined) throw new StaleTokenError(lease.resource, lease.token, 0n);
  raised(lease, seen);
  return seen;
};

describe('the suite', () => {
  /** The cases that this fixture fails. */
  function failuresOf(create: () => FenceFixture): Promise<string[]> {
    const cases: Registered[] = [];
    fenceConformance({ test: (name, body) => cases.push({ name, body }), create });
    return failures(cases);
  }

  test('finds nothing wrong with what is right', async () => {
    expect(await failuresOf(() => inMemory())).toEqual([]);
  });

  test.each<[string, Weakness, RegExp]>([
    ['lets everybody write', { write: unchanged }, /none of 67/],
    ['compares tokens only when writing', { enter: unchanged, write: raised }, /none of 67/],
    [
      'raises for whoever comes',
      { enter: ({ lineage, token }) => ({ lineage, token, floor: 0n }) },
      /an older one never again/,
    ],
    [
      'forgets readers',
      { enter: (lease, seen) => (lease.kind === 'read' ? seen : raised(lease, seen)) },
      /behind readers/,
    ],
  ])('sees that a fence %s', async (_, weakness, found) => {
    expect((await failuresOf(() => inMemory(weakness))).join()).toMatch(found);
  });
});
