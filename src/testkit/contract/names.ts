import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { MAX_NAME_BYTES, MAX_PREFIX_BYTES } from '../../base/names.ts';
import { check, gone, held, hold, type Topic } from '../case.ts';

/** Pairs of names that a store might take for one. */
export const PAIRS: readonly (readonly [string, string, string])[] = [
  ['composed and decomposed letters', 'caf\u00e9', 'cafe\u0301'],
  ['compatibility forms', '\ufb01n', 'fin'],
  ['upper and lower case', 'Invoice', 'invoice'],
  ['the Turkish i', '\u0130', 'i\u0307'],
  ['a name and its prefix', 'user', 'user1'],
  ['a name and its child', 'a', 'a/b'],
  ['slashes at the end', 'a', 'a/'],
  ['double slashes', 'a/b', 'a//b'],
  ['dots of a path', 'a/../b', 'b'],
  ['a dot of a path', './a', 'a'],
  ['spaces at the end', 'a', 'a '],
  ['spaces in front', ' a', 'a'],
  ['a NUL inside', 'a\0b', 'a'],
  ['a NUL at the end', 'a\0', 'a'],
  ['line ends', 'a\n', 'a\r\n'],
  ['tab and space', 'a\tb', 'a b'],
  ['single quotes', "a'b", "a''b"],
  ['double quotes', 'a"b', 'a\\"b'],
  ['backslashes', 'a\\b', 'a\\\\b'],
  ['the wildcard %', 'a%', 'ab'],
  ['the wildcard _', 'a_', 'ab'],
  ['the wildcard *', 'a*', 'ab'],
  ['braces', '{a}b', '{a}c'],
  ['colons', 'a:b', 'a::b'],
  ['percent escapes', 'a%2Fb', 'a/b'],
  ['emoji with and without a joiner', '\u{1f468}\u200d\u{1f469}', '\u{1f468}\u{1f469}'],
  ['letters that look alike', 'a', '\u0430'],
  ['a zero-width space', 'a\u200b', 'a'],
  ['a byte order mark', '\ufeffa', 'a'],
  ['numbers', '1', '01'],
  ['names of object fields', '__proto__', 'constructor'],
  ['statements', "'; DROP TABLE claims; --", "'; DROP TABLE claims; -- "],
  ['long names that differ at the end', `${'x'.repeat(480)}1`, `${'x'.repeat(480)}2`],
];

export const names: Topic = {
  topic: 'names',
  promise: 'The name, with its prefix, as it was given: up to 640 bytes of UTF-8',
  cases: [
    ...PAIRS.map(([what, left, right]) =>
      check(`different names are different locks: ${what}`, async (bed) => {
        const one = bed.claimOn(left);
        const other = bed.claimOn(right);
        held(await bed.enter(one));
        held(await bed.enter(other));
        for (const { resource } of [one, other]) {
          const queue = await bed.look(resource);
          assert.equal(queue.resource, resource);
          assert.equal(queue.holders.length, 1);
          gone(await bed.enter(bed.claim({ resource, queue: false })), 'refused');
        }
        await bed.leave(one);
        held(await bed.beat(other));
        gone(await bed.beat(one));
      }),
    ),
    check('the longest name with the longest prefix fits, in any script', async (bed) => {
      const most = MAX_NAME_BYTES + MAX_PREFIX_BYTES - Buffer.byteLength(bed.name(''));
      for (const letter of ['x', '\u00e9', '\u20ac', '\u{1f512}']) {
        const text = letter.repeat(Math.floor(most / Buffer.byteLength(letter)));
        const resource = bed.name(text);
        const { claim } = await hold(bed, { resource });
        held(await bed.beat(claim));
        assert.equal((await bed.look(resource)).resource, resource);
        held(await bed.enter(bed.claimOn(text.slice(letter.length))));
      }
    }),
    check('a list gives every name back as it was', ['list'], async (bed) => {
      const all = new Set(PAIRS.flatMap(([, one, other]) => [bed.name(one), bed.name(other)]));
      for (const resource of all) held(await bed.enter(bed.claim({ resource })));
      const listed = await bed.list();
      assert.equal(listed.length, new Set(listed).size, 'no name twice');
      assert.deepEqual(listed, [...all].sort());
    }),
    check('a list takes its prefix literally', ['list'], async (bed) => {
      const all = ['a%b', 'a_b', 'axb', 'A%b', 'a*b', 'a?b', 'a[b]', 'a\\b', "a'b", 'a', 'b'];
      for (const each of all) await bed.enter(bed.claimOn(each));
      for (const prefix of [...all, '']) {
        const expected = all.filter((each) => each.startsWith(prefix)).map((e) => bed.name(e));
        assert.deepEqual(await bed.list(prefix), expected.sort(), `prefix ${prefix}`);
      }
    }),
  ],
};
