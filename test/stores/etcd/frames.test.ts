import { expect, it } from 'vitest';
import { frame, Unframer } from '../../../src/stores/etcd/frames.ts';
import { MalformedError } from '../../../src/stores/etcd/wire-format.ts';

const MESSAGES = ['', 'one', 'x'.repeat(300)];
const FRAMED = Buffer.concat(MESSAGES.map((text) => frame(Buffer.from(text))));

function messagesIn(pieces: readonly Buffer[]): string[] {
  const unframer = new Unframer();
  return pieces.flatMap((piece) => unframer.take(piece)).map(String);
}

it('messages are put together wherever they were cut', () => {
  expect(messagesIn([FRAMED])).toEqual(MESSAGES);
  for (let at = 0; at <= FRAMED.length; at++) {
    expect(messagesIn([FRAMED.subarray(0, at), FRAMED.subarray(at)])).toEqual(MESSAGES);
  }
  expect(messagesIn([...FRAMED].map((byte) => Buffer.of(byte)))).toEqual(MESSAGES);
});

it('it is known that one has begun', () => {
  const unframer = new Unframer();
  expect(unframer.begun).toBe(false);
  unframer.take(FRAMED.subarray(0, 7));
  expect(unframer.begun).toBe(true);
  unframer.take(FRAMED.subarray(7));
  expect(unframer.begun).toBe(false);
});

it.each([
  ['is compressed', '0100000001 41'],
  ['says that it is larger than all memory', '00ffffffff'],
  ['is a page of some other server', Buffer.from('<html>').toString('hex')],
])('one that %s is refused', (_, hex) => {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  expect(() => new Unframer().take(bytes)).toThrow(MalformedError);
});
