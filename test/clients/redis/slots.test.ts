import { expect, test } from 'vitest';
import { SLOTS, slotOf, tagOf } from '../../../src/clients/redis/slots.ts';

test.each([
  ['123456789', 0x31c3],
  ['', 0],
  ['foo', 12_182],
  ['bar', 5061],
  ['{foo}bar', 12_182],
  ['bar{foo}', 12_182],
  ['{foo}{bar}', 12_182],
  ['foo{bar{baz}', 7907],
  ['{}foo', 9500],
  ['foo{', 7673],
  ['{user1000}.following', 3443],
  ['ключ', 10_303],
])('%s is in its slot', (key, slot) => {
  expect(slotOf(key)).toBe(slot % SLOTS);
});

test('every slot has a short tag', () => {
  for (let slot = 0; slot < SLOTS; slot++) {
    const tag = tagOf(slot);
    expect(slotOf(tag)).toBe(slot);
    expect(slotOf(`holdfast:!record{${tag}}`)).toBe(slot);
    expect(tag).toMatch(/^[a-z\d]{1,4}$/);
  }
});
