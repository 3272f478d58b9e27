import { Answer } from '../../../base/answer.ts';
import { isLockError } from '../../../base/errors.ts';
import type { Linked } from '../../../base/fifo.ts';
import { tooLong } from '../errors.ts';
import type { Watching } from '../watches.ts';
import { type JuteReader, JuteWriter } from './jute.ts';
import type { ZookeeperRequest } from './requests.ts';

/** Servers cut off clients that send more, in bytes. */
const MAX_REQUEST = 0xfffff;

const XID_AT = 4;

export class Exchange<T = unknown> implements Linked<Exchange> {
  readonly request: ZookeeperRequest<T>;
  readonly watching: Watching | undefined;
  readonly frame: Buffer;
  readonly answer: Answer<T> = new Answer<T>();
  /** Undefined until it is written. */
  sentAt: number | undefined;
  xid = 0;
  previous: Exchange | undefined;
  next: Exchange | undefined;
  settled = false;

  /** @throws RequestError if it is longer than servers take. */
  constructor(request: ZookeeperRequest<T>, watching: Watching | undefined) {
    this.request = request;
    this.watching = watching;
    const out = new JuteWriter().int(0).int(request.opcode);
    request.write(out);
    this.frame = out.frame();
    const bytes = this.frame.length - 4;
    if (bytes > MAX_REQUEST) {
      const most = `ZooKeeper takes at most ${MAX_REQUEST} (jute.maxbuffer)`;
      throw tooLong(`The request has ${bytes} bytes; ${most}.`);
    }
  }

  number(xid: number): void {
    this.xid = xid;
    this.frame.writeInt32BE(xid, XID_AT);
  }

  /** @throws what makes the reply unreadable: its connection has to end before this fails */
  take(body: JuteReader): void {
    let value: T;
    try {
      value = this.request.read(body);
    } catch (error) {
      // A refused step of a multi is a well-formed reply.
      if (isLockError(error)) return this.fail(error);
      throw error;
    }
    this.settled = true;
    this.answer.settle(value);
  }

  fail(error: Error): void {
    this.settled = true;
    this.answer.fail(error);
  }
}

export interface ZookeeperGreeting {
  readonly sessionId: bigint;
  /** With the id, it takes over the session. */
  readonly password: Buffer;
  /** The timeout granted. 0: the session has expired. */
  readonly timeoutMs: number;
}

/** The first request of a connection. Without a session, it asks for a new one. */
export function helloOf(
  session: ZookeeperGreeting | undefined,
  terms: { readonly lastZxid: bigint; readonly timeoutMs: number },
): Buffer {
  const { sessionId = 0n, password = Buffer.alloc(16) } = session ?? {};
  return new JuteWriter()
    .int(0)
    .long(terms.lastZxid)
    .int(terms.timeoutMs)
    .long(sessionId)
    .bytes(password)
    .flag(false)
    .frame();
}

/** Its reply, which has one more flag since 3.4. */
export function readGreeting(answer: JuteReader): ZookeeperGreeting {
  answer.int();
  const timeoutMs = answer.int();
  return { timeoutMs, sessionId: answer.long(), password: answer.bytes() };
}
