import { admissible, limitOf, type Standing } from 'holdfast/store';
import { expect, test } from 'vitest';

function claim(permits: number, limit: number, admitted = false): Standing {
  return { kind: 'permits', permits, limit, admitted };
}

test.each([
  ['an empty queue', [], 0],
  ['holders alone', [claim(1, 3, true), claim(2, 3, true)], 0],
  ['room for some', [claim(1, 3, true), claim(1, 3), claim(1, 3), claim(1, 3)], 2],
  ['a large claim, which lets none pass', [claim(2, 3, true), claim(2, 3), claim(1, 3)], 0],
  ['a smaller limit further back', [claim(1, 3, true), claim(1, 3), claim(1, 2)], 1],
])('how many may enter: %s', (_, queue, count) => {
  expect(admissible(queue)).toBe(count);
});

test('the smallest limit is in force', () => {
  expect(limitOf([claim(1, 4, true), claim(1, 3), claim(1, 5)])).toBe(3);
});
