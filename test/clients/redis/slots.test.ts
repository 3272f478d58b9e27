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
  ['foo{bar{baz}', slotOf('bar{baz')],
  ['{}foo', slotOf('{}foo')],
  ['foo{', slotOf('foo{')],
  ['{user1000}.following', slotOf('user1000')],
])('%s is in its slot', (key, slot) => {
  expect(slotOf(key)).toBe(slot % SLOTS);
});

test('an empty tag is none, and only the first one counts', () => {
  expect(slotOf('{}foo')).not.toBe(slotOf('{}bar'));
  expect(slotOf('{foo}{bar}')).toBe(slotOf('foo'));
  expect(slotOf('ключ')).not.toBe(slotOf('клуч'));
});

test('every slot has a short tag', () => {
  for (let slot = 0; slot < SLOTS; slot++) {
    const tag = tagOf(slot);
    expect(slotOf(tag)).toBe(slot);
    expect(slotOf(`holdfast:!record{${tag}}`)).toBe(slot);
    expect(tag).toMatch(/^[a-z\d]{1,4}$/);
  }
});
