import { expect, it } from 'vitest';
import { frame, HEAD } from '../../../../src/clients/etcd/rpc-stream.ts';
import { MalformedError } from '../../../../src/clients/etcd/wire/wire-format.ts';
import { Frames } from '../../../../src/clients/frames.ts';

const MESSAGES = ['', 'one', 'x'.repeat(300)];
const FRAMED = Buffer.concat(MESSAGES.map((text) => frame(Buffer.from(text))));

function messagesIn(pieces: readonly Buffer[]): string[] {
  const frames = new Frames(HEAD);
  return pieces.flatMap((piece) => [...frames.add(piece)]).map(String);
}

it('messages are put together wherever they were cut', () => {
  expect(messagesIn([FRAMED])).toEqual(MESSAGES);
  for (let at = 0; at <= FRAMED.length; at++) {
    expect(messagesIn([FRAMED.subarray(0, at), FRAMED.subarray(at)])).toEqual(MESSAGES);
  }
  expect(messagesIn([...FRAMED].map((byte) => Buffer.of(byte)))).toEqual(MESSAGES);
});

it('it is known that one has begun', () => {
  const frames = new Frames(HEAD);
  expect(frames.begun).toBe(false);
  expect([...frames.add(FRAMED.subarray(0, 7))]).toHaveLength(1);
  expect(frames.begun).toBe(true);
  expect([...frames.add(FRAMED.subarray(7))]).toHaveLength(2);
  expect(frames.begun).toBe(false);
});

it.each([
  ['is compressed', '0100000001 41'],
  ['says that it is larger than all memory', '00ffffffff'],
  ['is a page of some other server', Buffer.from('<html>').toString('hex')],
])('one that %s is refused', (_, hex) => {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  expect(() => [...new Frames(HEAD).add(bytes)]).toThrow(MalformedError);
});
