/** What answers is no ZooKeeper, or a broken one: every request ends with an error, none hangs. */
import { createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { Answer } from '../../../src/base/answer.ts';
import { Chance } from '../../methods/simulation/chance.ts';
import { listening } from '../../support/closing.ts';
import { until } from '../../support/until.ts';
import { heardFrom, startSession, untilState } from './sessions.ts';

const GREETING = Buffer.from(
  '00000025000000000000271000000000000000070000001000112233445566778899aabbccddeeff00',
  'hex',
);

const SHORT_GREETING = Buffer.from('0000000400000000', 'hex');

/** A server that answers the first request well, or not, and each later one with `answer`. */
async function serve(
  answer: (request: Buffer) => Buffer,
  greeting: Buffer = GREETING,
  sockets: Set<Socket> = new Set(),
): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    let greeted = false;
    socket.on('data', (request) => {
      // As every server replies to a word, and ends the connection.
      if (request.toString() === 'srvr') return void socket.end('Mode: standalone');
      socket.write(greeted ? answer(request as Buffer) : greeting);
      greeted = true;
    });
  });
  return `127.0.0.1:${await listening(server)}`;
}

/** A reply to the request with this header and body. */
function reply(request: Buffer, { code = 0, body = '', xid = request.readInt32BE(4) }): Buffer {
  const frame = Buffer.alloc(20 + body.length / 2);
  frame.writeInt32BE(frame.length - 4, 0);
  frame.writeInt32BE(xid, 4);
  frame.writeBigInt64BE(1n, 8);
  frame.writeInt32BE(code, 16);
  frame.write(body, 20, 'hex');
  return frame;
}

it.each([
  ['the reply to another request', (q: Buffer) => reply(q, { xid: 77 })],
  ['a body that is too short', (q: Buffer) => reply(q, { body: '0000' })],
  ['a list that no frame could hold', (q: Buffer) => reply(q, { body: '7fffffff00000000' })],
  ['a name longer than the frame', (q: Buffer) => reply(q, { body: '0000000100ffffff' })],
  ['a negative length', (q: Buffer) => reply(q, { body: 'fffffff0' })],
  ['a frame of two gigabytes', () => Buffer.from('7fffffff00000000', 'hex')],
  ['a frame of negative length', () => Buffer.from('ffffffff', 'hex')],
  ['an empty frame', () => Buffer.from('00000000', 'hex')],
  ['an answer to a ping that was not asked for', (q: Buffer) => reply(q, { xid: -2 })],
  ['an event without a body', (q: Buffer) => reply(q, { xid: -1 })],
  ['a web page', () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
])('%s ends the request with an unknown outcome', async (_, answer) => {
  const session = startSession({ servers: [await serve(answer)] });
  await expect(session.getChildren('/')).rejects.toMatchObject({
    ...{ reason: 'GARBAGE', outcome: 'unknown', retryable: true },
  });
});

it('what is asked at once after an unreadable reply goes over a new connection', async () => {
  let asked = 0;
  const children = { body: `00000000${'00'.repeat(68)}` };
  const answer = (q: Buffer): Buffer => reply(q, asked++ === 0 ? { body: '0000' } : children);
  const session = startSession({ servers: [await serve(answer)] });
  const again = Answer.from(session.getChildren('/')).or(() => session.getChildren('/'));
  expect((await again).children).toEqual([]);
});

it('an unknown error has an unknown outcome', async () => {
  const session = startSession({ servers: [await serve((q) => reply(q, { code: -4242 }))] });
  await expect(session.getChildren('/')).rejects.toMatchObject({
    ...{ reason: 'UNKNOWN', outcome: 'unknown', message: expect.stringContaining('-4242') },
  });
});

it('events that nobody waits for are no trouble', async () => {
  const event = { xid: -1, body: '0000000300000003000000022f61' };
  const children = { body: `00000000${'00'.repeat(68)}` };
  const answer = (q: Buffer): Buffer => Buffer.concat([reply(q, event), reply(q, children)]);
  const session = startSession({ servers: [await serve(answer)] });
  expect((await session.getChildren('/')).children).toEqual([]);
});

it.each([
  ['a web server', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['one that greets with too little', SHORT_GREETING],
  ['one that says nothing', Buffer.alloc(0)],
])('%s is no server: the request fails in its time, and was never sent', async (_, greeting) => {
  const session = startSession({ servers: [await serve(() => Buffer.alloc(0), greeting)] });
  await expect(session.create('/a', { timeoutMs: 300 })).rejects.toMatchObject({
    ...{ reason: 'OPERATIONTIMEOUT', outcome: 'failed', retryable: true },
  });
});

it('a connection with a greeting that cannot be read is ended before the next', async () => {
  const sockets = new Set<Socket>();
  const server = await serve(() => Buffer.alloc(0), SHORT_GREETING, sockets);
  startSession({ servers: [server] });
  await until('another came', async () => sockets.size > 1);
  const [former] = sockets;
  await until('it has ended', async () => former?.destroyed === true);
});

it('a server that gives another session has ended ours', async () => {
  // The connection ends with the first answer, and the next greeting names another session.
  const greeting = Buffer.from(GREETING);
  const answer = (): Buffer => {
    greeting.writeBigInt64BE(8n, 12);
    return Buffer.from('ffffffff', 'hex');
  };
  const session = startSession({ servers: [await serve(answer, greeting)] });
  const heard = heardFrom(session);
  await expect(session.exists('/')).rejects.toMatchObject({ reason: 'GARBAGE' });
  await untilState(session, 'expired');
  expect([heard, session.id]).toEqual([['connected', 'suspended', 'expired'], 7n]);
});

it('random bytes never leave a request open, nor the process broken', async () => {
  // A fixed sequence of pseudo-random numbers, so that a failure can be repeated.
  const chance = new Chance(1);
  const answer = (request: Buffer): Buffer => {
    const body = Array.from({ length: chance.below(80) }, () => chance.below(4));
    const bytes = Buffer.from(body.map((byte) => (byte === 3 ? chance.below(256) : byte)));
    return reply(request, { body: bytes.toString('hex'), code: chance.share(0.1) ? -101 : 0 });
  };
  const session = startSession({ servers: [await serve(answer)] });
  const asks = [
    () => session.getChildren('/'),
    () => session.getData('/a'),
    () => session.create('/a'),
    () => session.multi([{ step: 'delete', path: '/a' }]),
  ];
  for (let n = 0; n < 300; n += 1) {
    const ask = asks[n % asks.length] as (typeof asks)[number];
    await Promise.allSettled([ask()]);
  }
  expect(['connecting', 'connected', 'suspended']).toContain(session.state);
});
