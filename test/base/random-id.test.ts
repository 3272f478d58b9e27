import { expect, test } from 'vitest';
import { randomId } from '../../src/base/random-id.ts';

test('ids are 128 random bits each', () => {
  // More than are drawn at a time.
  const ids = Array.from({ length: 1_000 }, () => randomId());
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});
