import { describe, expect, it } from 'vitest';
import { checkPath, nodeName, resourceIn } from '../../../../src/clients/zookeeper/paths.ts';
import { PAIRS } from '../../../../src/testkit/contract/names.ts';

/** Each has a name of its own, which a path may have, and from which it is read back. */
function expectOwnNames(resources: readonly string[]): void {
  const names = resources.map(nodeName);
  expect(new Set(names).size).toBe(resources.length);
  expect(names.filter((name, n) => resourceIn(name) !== resources[n])).toEqual([]);
  expect(names.filter((name) => name === '%' || name.includes('/'))).toEqual([]);
  for (const name of names) checkPath(`/${name}`);
}

describe('the name of a node', () => {
  it.each(PAIRS)('tells %s apart', (_what, one, other) => expectOwnNames([one, other]));

  it('can be made of every character', () => {
    const basic = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
    const beyond = Array.from({ length: 0x1000 }, (_, n) =>
      String.fromCodePoint(0x10000 + n * 256),
    );
    expectOwnNames([...basic.filter((character) => character.isWellFormed()), ...beyond]);
  });

  it('is the resource itself where it can be', () => {
    for (const plain of ['order 42', 'Größe:{1}', '...', '.a', '名前', '\u200b', "it's", '_c_1-']) {
      expect(nodeName(plain)).toBe(plain);
    }
  });

  it('has capital digits for all else', () => {
    expect(nodeName('a/b')).toBe('a%2Fb');
    expect(nodeName('%')).toBe('%25');
    expect(nodeName('a%2Fb')).toBe('a%252Fb');
    expect(nodeName('.')).toBe('%2E');
    expect(nodeName('..')).toBe('%2E%2E');
    expect(nodeName('\0\u007f\u0085\ue000\ufffd')).toBe('%00%7F%C2%85%EE%80%80%EF%BF%BD');
    expect(nodeName('\u{1f512}')).toBe('%F0%9F%94%92');
  });

  it('is made of text alone, and not of nothing', () => {
    for (const text of ['', '\ud83d', 'a\udd12', '\udd12\ud83d']) {
      expect(() => nodeName(text)).toThrow(expect.objectContaining({ code: 'USAGE' }));
    }
  });

  it('is read only as it would be written', () => {
    const strange = ['', '%', '%2', '%zz', '%2f', '%41', '%C3%A9', '%FF', 'a/b', '\0', '\u{1f512}'];
    for (const name of [...strange, '.', '..', '%2E%2E%2E', '%2Ea', '%ED%A0%80', '\ud83d']) {
      expect([name, resourceIn(name)]).toEqual([name, undefined]);
    }
  });
});
