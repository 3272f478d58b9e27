/** Names as keys of services over HTTP, and back. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ASCII_KEYS, KEYS } from '../../../src/clients/http/keys.ts';
import { cases } from '../../support/cases.ts';

const names = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('.', '/', '%', '2', 'E', 'é', '\0', '\u{1f512}') }),
);

describe.each([
  ['with letters', KEYS],
  ['of ASCII alone', ASCII_KEYS],
] as const)('keys %s', (_, { keyOf, nameOf, beginningOf }) => {
  test('lead back to their names, so that no two have one key', () => {
    fc.assert(
      fc.property(names, (name) => {
        expect(nameOf(keyOf(name))).toBe(name);
      }),
      cases(100),
    );
  });

  test('begin as their names do', () => {
    const both = fc.tuple(names, names);
    fc.assert(
      fc.property(both, ([start, rest]) => {
        expect(keyOf(start + rest).startsWith(beginningOf(start))).toBe(true);
      }),
      cases(100),
    );
  });

  test('have nothing that a path could lose', () => {
    const plain = fc.property(names, (name) => {
      const key = keyOf(name);
      expect(key).not.toMatch(/[/\\\p{Cc}]|^\.\.?$/u);
      expect(new URL(encodeURIComponent(key), 'http://a/').pathname).toBe(
        `/${encodeURIComponent(key)}`,
      );
    });
    fc.assert(plain, cases(100));
  });
});

test('a key that was not made so has no name', () => {
  for (const key of ['a/b', '.', '%', '%zz', '%61', 'a\\'])
    expect(KEYS.nameOf(key)).toBeUndefined();
});
