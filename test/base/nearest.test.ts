import { expect, test } from 'vitest';
import { nearest } from '../../src/base/nearest.ts';

const VERBS = ['run', 'show', 'evict', 'release', 'top', 'ls'];

test.each([
  ['releese', 'release'],
  ['elease', 'release'],
  ['evictt', 'evict'],
  ['hsow', 'show'],
  ['topp', 'top'],
  ['ls', 'ls'],
  ['rune', 'run'],
  // Three edits, every letter, or nothing in common.
  ['relxyz', undefined],
  ['xy', undefined],
  ['migrate', undefined],
  ['', undefined],
])('the nearest word to %j is %j', (word, known) => {
  expect(nearest(word, VERBS)).toBe(known);
});

test('of two that are as near, it is the first', () => {
  expect(nearest('cat', ['car', 'bat'])).toBe('car');
  expect(nearest('cart', ['cat', 'cart'])).toBe('cart');
});
