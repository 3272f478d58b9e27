import { describe, expect, it } from 'vitest';
import {
  txnRequest,
  txnResponse,
  watchResponse,
} from '../../../../src/clients/etcd/wire/messages.ts';
import {
  always,
  count,
  decode,
  encode,
  int64,
  type Message,
  many,
  message,
  plain,
  text,
} from '../../../../src/clients/etcd/wire/protobuf.ts';
import { MalformedError } from '../../../../src/clients/etcd/wire/wire-format.ts';
import { Chance } from '../../../methods/simulation/chance.ts';
import { AGAIN, RUN, shareOf } from '../../../support/this-run.ts';

interface Sample {
  small: number;
  signed: bigint;
  name: string;
  within?: Sample;
  rest: readonly bigint[];
  zero?: bigint;
}

const sample: Message<Sample> = message(() => ({
  small: plain(1, count),
  name: plain(2, text),
  signed: plain(3, int64),
  within: always(5, sample),
  rest: many(6, int64),
  zero: always(64, int64),
}));

const EMPTY: Sample = { small: 0, signed: 0n, name: '', rest: [] };

const hex = (value: Sample): string => encode(sample, value).toString('hex');

function read(bytes: string): Sample {
  return decode(sample, Buffer.from(bytes.replaceAll(' ', ''), 'hex'));
}

describe('protocol buffers', () => {
  it('are written as their specification shows', () => {
    expect(hex({ ...EMPTY, small: 150 })).toBe('089601');
    expect(hex({ ...EMPTY, name: 'testing' })).toBe('120774657374696e67');
    expect(hex({ ...EMPTY, within: { ...EMPTY, small: 150 } })).toBe('2a03089601');
    expect(hex({ ...EMPTY, signed: -2n })).toBe('18feffffffffffffffff01');
    expect(hex({ ...EMPTY, rest: [1n, 2n] })).toBe('30013002');
  });

  it('leave out what readers assume, but for one of several', () => {
    expect([hex(EMPTY), hex({ ...EMPTY, zero: 0n, within: EMPTY })]).toEqual(['', '2a00800400']);
    expect(read('')).toEqual(EMPTY);
    expect(read('2a00 800400')).toEqual({ ...EMPTY, within: EMPTY, zero: 0n });
  });

  it.each([0, 1, 127, 128, 16_383, 16_384, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32, 2 ** 53 - 1])(
    'bring %d back',
    (small) => {
      const value = { ...EMPTY, small, signed: BigInt(-small) };
      expect(decode(sample, encode(sample, value))).toEqual(value);
    },
  );

  it('bring the largest numbers and any text back', () => {
    const value = {
      ...EMPTY,
      ...{ signed: -(2n ** 63n), zero: 2n ** 63n - 1n },
      name: `ü€😀\0${'x'.repeat(100_000)}`,
      rest: Array.from({ length: 1000 }, (_, n) => BigInt(n) ** 6n),
    };
    expect(decode(sample, encode(sample, value))).toEqual(value);
  });

  it('may have fields that nobody knows', () => {
    const unknown = '7801 7901020304 05060708 7a03414243 7d01020304';
    expect(read(`0801 ${unknown} 120141`)).toEqual({ ...EMPTY, small: 1, name: 'A' });
  });

  it.each([
    ['a number that does not end', '0880'],
    ['a number of more than ten bytes', `08${'80'.repeat(10)}01`],
    ['a text that is cut', '1205 4142'],
    ['a length beyond all memory', '12 ffffffffffffffffff01'],
    ['a part that leaves its message', '2a03 120541 42 43'],
    ['a group', '0b'],
    ['a wire type that there is not', '0f'],
    ['a number where a text should be', '1001'],
    ['an unknown part that is cut', '7a05 41'],
    ['an unknown number of eight bytes that is cut', '79 0102'],
  ])('are refused with %s', (_, bytes) => {
    expect(() => read(bytes)).toThrow(MalformedError);
  });

  it('are refused when they lie too deep', () => {
    let deep = Buffer.alloc(0);
    for (let n = 0; n < 1000; n++) {
      const length = encode(sample, { ...EMPTY, small: deep.length }).subarray(1);
      deep = Buffer.concat([Buffer.from('2a', 'hex'), deep.length ? length : Buffer.of(0), deep]);
    }
    expect(() => decode(sample, deep)).toThrow(MalformedError);
  });

  it('that are garbled or cut are read or refused, and nothing else', () => {
    const request = encode(txnRequest, {
      compare: [{ result: 0, target: 1, key: 'k', create: 0n, end: 'l' }],
      success: [{ put: { key: 'k', value: 'v', lease: 7n } }, { range: { key: 'a', end: 'b' } }],
      failure: [{ txn: { compare: [], success: [{ delete: { key: 'k' } }], failure: [] } }],
    });
    const chance = new Chance(RUN);
    let refused = 0;
    for (let n = shareOf(20_000); n > 0; n--) {
      const bytes = Buffer.from(request.subarray(0, chance.between(1, request.length)));
      for (let m = chance.below(4); m >= 0; m--)
        bytes[chance.below(bytes.length)] = chance.below(256);
      for (const kind of [txnRequest, txnResponse, watchResponse] as Message<unknown>[]) {
        try {
          decode(kind, bytes);
        } catch (error) {
          expect(error, AGAIN).toBeInstanceOf(MalformedError);
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(shareOf(1000));
  });
});
