import { type JuteReader, JuteWriter } from './jute.ts';

/** A server's first reply. */
export interface Greeting {
  readonly sessionId: bigint;
  /** With the id, it takes over the session. */
  readonly password: Buffer;
  /** The timeout granted. 0: the session has expired. */
  readonly timeoutMs: number;
}

/** The first request of a connection. Without a session, it asks for a new one. */
export function helloOf(
  session: Greeting | undefined,
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
export function readGreeting(answer: JuteReader): Greeting {
  answer.int();
  const timeoutMs = answer.int();
  return { timeoutMs, sessionId: answer.long(), password: answer.bytes() };
}
