import { describe, expect, it } from 'vitest';
import { Frames } from '../../../../src/clients/frames.ts';
import {
  GarbageError,
  HEAD,
  JuteReader,
  JuteWriter,
} from '../../../../src/clients/zookeeper/wire/jute.ts';

const written = (): JuteWriter =>
  new JuteWriter()
    .int(-7)
    .long(-(2n ** 63n))
    .flag(true)
    .text('żółw 🐢')
    .bytes(Buffer.from([0, 255]))
    .list(['a', ''], () => {});

describe('jute', () => {
  it('reads what it has written', () => {
    const out = written();
    for (let n = 0; n < 1000; n += 1) out.int(n);
    const frame = out.frame();
    expect(frame.readInt32BE(0)).toBe(frame.length - 4);
    const reader = new JuteReader(frame.subarray(4));
    expect(reader.int()).toBe(-7);
    expect(reader.long()).toBe(-(2n ** 63n));
    expect([reader.flag(), reader.text()]).toEqual([true, 'żółw 🐢']);
    expect(reader.bytes()).toEqual(Buffer.from([0, 255]));
    expect(reader.int()).toBe(2);
    for (let n = 0; n < 1000; n += 1) expect(reader.int()).toBe(n);
    expect(reader.left).toBe(0);
  });

  it.each([
    ['no number', '0000', (r: JuteReader) => r.int()],
    ['a text beyond the end', '0000000461', (r: JuteReader) => r.text()],
    ['bytes of negative length', 'fffffffe', (r: JuteReader) => r.bytes()],
    ['a list beyond the end', '4000000000000000', (r: JuteReader) => r.list(() => r.int())],
  ])('%s is garbage', (_, bytes, read) => {
    const reader = new JuteReader(Buffer.from(bytes, 'hex'));
    expect(() => read(reader)).toThrow(GarbageError);
  });

  it('takes what is absent for empty', () => {
    const reader = new JuteReader(Buffer.from('ffffffffffffffffffffffff', 'hex'));
    expect([reader.text(), reader.bytes().length, reader.list(() => 1)]).toEqual(['', 0, []]);
  });
});

it.each(['ffffffff', '0100000100000007', '7fffffff00000007'])(
  'frames that begin with %s are refused at once',
  (length) => {
    const read = (): Buffer[] => [...new Frames(HEAD).add(Buffer.from(length, 'hex'))];
    expect(read).toThrow(GarbageError);
  },
);
