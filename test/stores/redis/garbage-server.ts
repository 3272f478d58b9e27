/**
 * A server that greets like Redis and then answers garbage: cut off, of the wrong type, of absurd
 * length, late, too much, or nothing, and sometimes closes the connection in the middle.
 */
import { createServer, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import { freePort, giveBack } from '../../servers/ports.ts';
import { reset } from '../../servers/reset.ts';

/** How one command is answered. */
export interface Answer {
  readonly bytes: Buffer;
  readonly delayMs: number;
  /** The bytes arrive one by one. */
  readonly slow: boolean;
  readonly after: 'go on' | 'end' | 'reset';
}

const CRLF = '\r\n';

const text = fc.oneof(
  fc.constantFrom('', 'OK', 'message', 'subscribe', 'a b', 'null'),
  fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);
const bulk = text.map((value) => `$${value.length}${CRLF}${value}${CRLF}`);
const line = text.map((value) => value.replace(/[\r\n]/g, ' '));
const whole = fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2 ** 53, -(2 ** 63)));
const plain = fc.oneof(
  bulk,
  line.map((value) => `+${value}${CRLF}`),
  whole.map((value) => `:${value}${CRLF}`),
  fc.constantFrom(`$-1${CRLF}`, `*-1${CRLF}`, `_${CRLF}`, `#t${CRLF}`, `#f${CRLF}`),
  fc.double().map((value) => `,${value}${CRLF}`),
  fc.bigInt().map((value) => `(${value}${CRLF}`),
  bulk.map((value) => value.replace('$', '=')),
);
const refusal = fc
  .tuple(fc.constantFrom('ERR', 'NOSCRIPT', 'READONLY', 'MOVED', 'LOADING', '', 'x'), line)
  .map(([code, rest]) => `-${code} ${rest}${CRLF}`);

function listOf(mark: string, part: fc.Arbitrary<string | string[]>): fc.Arbitrary<string> {
  const parts = fc.array(part, { maxLength: 4 });
  return parts.map((all) => `${mark}${all.length}${CRLF}${all.flat().join('')}`);
}

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    ...[plain, plain, refusal],
    ...[listOf('*', tie('value')), listOf('~', tie('value'))],
    listOf('%', fc.tuple(bulk, tie('value'))),
  ),
}));

const garbage = fc.oneof(
  fc.tuple(value, fc.nat()).map(([all, at]) => all.slice(0, at % (all.length + 1))),
  fc.constantFrom(
    `$999999999999${CRLF}abc${CRLF}`,
    `$-7${CRLF}`,
    `$abc${CRLF}`,
    `$3${CRLF}abcdef${CRLF}`,
    `*-9${CRLF}`,
    `*100000${CRLF}:1${CRLF}`,
    `*4294967296${CRLF}`,
    `%x${CRLF}`,
    `${`*1${CRLF}`.repeat(40)}:1${CRLF}`,
    `:${CRLF}`,
    `,nan${CRLF}`,
    `-${CRLF}`,
    CRLF,
    'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n',
    '\x16\x03\x01\x00\x02\x02\x28',
    '\0\0\0\0',
  ),
  fc.tuple(value, value).map(([one, more]) => one + more),
  fc
    .uint8Array({ minLength: 1, maxLength: 60 })
    .map((bytes) => Buffer.from(bytes).toString('latin1')),
);

const timing = {
  delayMs: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 20 })),
  slow: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
};
const ending = fc.constantFrom<Answer['after']>('end', 'end', 'reset');
const goingOn = fc.constant<Answer['after']>('go on');

function some(weight: number, said: fc.Arbitrary<string>, after: fc.Arbitrary<Answer['after']>) {
  return { weight, arbitrary: fc.record({ said, ...timing, after }) };
}

const answer: fc.Arbitrary<Answer> = fc
  .oneof(
    some(50, value, goingOn),
    some(50, value, ending),
    some(100, garbage, ending),
    // The rest may never come, which takes the client seconds to notice: so only few of these.
    some(1, garbage, goingOn),
  )
  .map(({ said, ...how }) => ({ bytes: Buffer.from(said, 'latin1'), ...how }));

/** The same for the same seed. */
export function answers(seed: number, count: number): Answer[] {
  return fc.sample(answer, { seed, numRuns: count });
}

const HELLO = `%2${CRLF}$6${CRLF}server${CRLF}$5${CRLF}redis${CRLF}$5${CRLF}proto${CRLF}:3${CRLF}`;
const INFO = 'redis_version:7.0.0\r\nrole:master\r\nloading:0';
const GREETINGS: Readonly<Record<string, string>> = {
  HELLO,
  INFO: `$${INFO.length}${CRLF}${INFO}${CRLF}`,
  CLIENT: `+OK${CRLF}`,
};

export class GarbageServer implements AsyncDisposable {
  /** How many commands were answered with garbage, or with nothing. */
  given = 0;
  readonly port: number;
  readonly #answers: readonly Answer[];
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  static async start(given: readonly Answer[]): Promise<GarbageServer> {
    const server = new GarbageServer(await freePort(), given);
    await new Promise<void>((resolve) => server.#server.listen(server.port, '127.0.0.1', resolve));
    return server;
  }

  private constructor(port: number, given: readonly Answer[]) {
    this.port = port;
    this.#answers = given;
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    giveBack(this.port);
  }

  #serve(socket: Socket): void {
    this.#open.add(socket);
    socket.on('close', () => this.#open.delete(socket));
    socket.on('error', () => {});
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let next = commandIn(received); next; next = commandIn(received)) {
        received = received.slice(next.length);
        const greeting = GREETINGS[next.command];
        if (greeting !== undefined) socket.write(greeting);
        else void this.#answer(socket);
      }
    });
  }

  async #answer(socket: Socket): Promise<void> {
    const answer = this.#answers[this.given++ % this.#answers.length] as Answer;
    const { bytes, delayMs, slow, after } = answer;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    for (let at = 0; slow && at < bytes.length; at++) {
      socket.write(bytes.subarray(at, at + 1));
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (!slow) socket.write(bytes);
    if (after === 'end') socket.end();
    else if (after === 'reset') reset(socket);
  }
}

/** The first whole command of what was received, and how many bytes it takes. */
function commandIn(received: string): { command: string; length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(received);
  if (!head) return undefined;
  let at = head[0].length;
  let command = '';
  for (let n = 0; n < Number(head[1]); n++) {
    const size = /^\$(\d+)\r\n/.exec(received.slice(at, at + 20));
    if (!size) return undefined;
    at += size[0].length;
    command ||= received.slice(at, at + Number(size[1])).toUpperCase();
    at += Number(size[1]) + 2;
    if (at > received.length) return undefined;
  }
  return { command, length: at };
}
