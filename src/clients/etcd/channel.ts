/**
 * One connection to a server of etcd: gRPC over HTTP/2.
 *
 * A request that the server refused, or reports as not processed, has not been carried out; the
 * outcome of any other sent request without a reply is unknown. A connection is used only after the
 * server's HTTP/2 preface, so a port of another service never gets a request.
 * A connection may be dead without notice. So while something is awaited and the server is silent,
 * it gets a request that any gRPC server answers at once (not pings of HTTP/2: etcd closes a
 * connection with more than a few of them in five seconds). Two seconds of silence end it.
 * While an event is handled, nothing is sent and no session is destroyed. Node emits the end of a
 * stream while nghttp2 still counts it as open; a send at that moment may write empty frames until
 * memory runs out: seen with nghttp2 1.61, which is in Node 20 (nodejs/node#52952). Node sends at
 * once when a stream is reset or a session destroyed, all else in the next turn of the event loop.
 * What would break it: mistaking this process's own pause for the server's silence; so input that
 * has arrived meanwhile is read before the silence is judged.
 */
import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls';
import { onAbort } from '../../base/aborts.ts';
import { Answer } from '../../base/answer.ts';
import { systemClock } from '../../base/clock.ts';
import { afterInput } from '../../base/event-loop.ts';
import { SharedTimer } from '../../base/shared-timer.ts';
import { NoAnswer } from './errors.ts';
import { type Received, RpcStream, type StreamCourse } from './rpc-stream.ts';
import { MalformedError } from './wire/wire-format.ts';

/** How often the server's silence is checked. */
const LOOK_MS = 500;
/** Silent checks until the server gets a probe, and until it counts as dead. */
const ASK_AT = 2;
const DEAD_AT = 4;

/** How much may be on its way to us, in bytes: thousands of changes at once. */
const WINDOW = 4 * 1024 * 1024;

const PROBE = '/grpc.health.v1.Health/Check';

export interface Endpoint {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly tls: ConnectionOptions | undefined;
}

export interface RpcRequest {
  readonly path: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export class EtcdChannel implements StreamCourse {
  readonly endpoint: Endpoint;
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #retired: (channel: EtcdChannel) => void;
  readonly #lasting = new Set<RpcStream>();
  readonly #clock = systemClock();
  /** Of its calls, which keep the process alive. */
  readonly #limits = new SharedTimer(this.#clock, true);
  cause: unknown;
  usable = true;
  /** The server ignores streams with a higher number. */
  #last = Number.POSITIVE_INFINITY;
  #expected = 0;
  #timer: NodeJS.Timeout | undefined;
  #silentLooks = 0;

  /** Rejects with NoAnswer. Calls `retired` when it takes no requests any more. */
  static open(
    endpoint: Endpoint,
    signal: AbortSignal,
    retired: (channel: EtcdChannel) => void,
  ): Promise<EtcdChannel> {
    const channel = new EtcdChannel(endpoint, retired);
    const session = channel.#session;
    const abort = (): void => channel.destroy(signal.reason);
    if (signal.aborted) abort();
    const forget = onAbort(signal, abort);
    const opened = new Promise<EtcdChannel>((resolve, reject) => {
      session.once('remoteSettings', () => {
        session.setLocalWindowSize(WINDOW);
        resolve(channel);
      });
      session.once('close', () => reject(new NoAnswer(false, channel.cause)));
    });
    return opened.finally(forget);
  }

  private constructor(endpoint: Endpoint, retired: (channel: EtcdChannel) => void) {
    const socket = socketTo(endpoint);
    const session = connect(endpoint.url, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: WINDOW },
    });
    this.endpoint = endpoint;
    this.#socket = socket;
    this.#session = session;
    this.#retired = retired;
    session.unref();
    session.on('error', (error) => {
      this.cause ??= error;
    });
    session.on('goaway', (_code, last) => {
      this.#last = last;
      this.retire('the server closes the connection');
    });
    session.once('close', () => {
      this.cause ??= new Error('the connection was closed');
      this.retire('the connection was closed');
      this.#limits.close();
    });
  }

  /** The only message of the reply. Fails with a Refusal or NoAnswer. @throws NoAnswer */
  call(request: RpcRequest, message: Buffer, ms: number): Answer<Buffer> {
    const answer = new Answer<Buffer>();
    let reply: Buffer | undefined;
    const stream = this.#begin(request, {
      message: (bytes) => {
        reply = bytes;
      },
      ended: (error) => {
        if (error) answer.fail(error);
        else if (reply) answer.settle(reply);
        else answer.fail(new NoAnswer(true, new MalformedError('the answer is empty')));
      },
    });
    const late = (): void => stream.end(new NoAnswer(true, `no answer within ${ms} ms`));
    const limited = this.#limits.limit(answer, this.#clock.now() + ms, late);
    stream.expect(true);
    stream.finish(message);
    return limited;
  }

  /** A lasting one: it ends when the connection takes no more requests. @throws NoAnswer */
  stream(request: RpcRequest, received: Received): RpcStream {
    const stream = this.#begin(request, {
      message: (bytes) => received.message(bytes),
      ended: (error) => {
        this.#lasting.delete(stream);
        received.ended(error);
      },
    });
    this.#lasting.add(stream);
    return stream;
  }

  /** Takes no more requests, and closes after the last reply. */
  retire(why: string): void {
    if (!this.usable) return;
    this.usable = false;
    this.#retired(this);
    for (const stream of this.#lasting) stream.end(new NoAnswer(true, why));
    if (!this.#session.destroyed) this.#session.close();
  }

  /** Ends it at once: open requests get no reply any more. */
  destroy(cause: unknown): void {
    this.cause ??= cause;
    this.retire('the connection broke');
    // Its session ends with it, and sends nothing any more.
    this.#socket.destroy();
  }

  arrived(): void {
    this.#silentLooks = 0;
  }

  expecting(change: 1 | -1): void {
    this.#expected += change;
    if (this.#expected === 0 || this.#timer !== undefined) return;
    this.#silentLooks = 0;
    this.#listen();
  }

  reached(stream: number | undefined): boolean {
    return stream !== undefined && stream <= this.#last;
  }

  /** @throws NoAnswer if the connection takes no requests now. */
  #begin({ path, metadata }: RpcRequest, received: Received): RpcStream {
    const headers = {
      ':method': 'POST',
      ':path': path,
      te: 'trailers',
      'content-type': 'application/grpc',
      ...metadata,
    };
    try {
      return new RpcStream(this.#session.request(headers), this, received);
    } catch (error) {
      throw new NoAnswer(false, error);
    }
  }

  #listen(): void {
    const due = performance.now() + LOOK_MS;
    const look = (): void => {
      this.#timer = undefined;
      if (this.#expected === 0 || this.#session.destroyed) return;
      const stoodStill = performance.now() > due + LOOK_MS;
      if (!stoodStill) this.#silentLooks++;
      if (this.#silentLooks === ASK_AT) this.#ask();
      if (this.#silentLooks < DEAD_AT) this.#listen();
      else this.destroy(`the server has been silent for ${DEAD_AT * LOOK_MS} ms`);
    };
    this.#timer = setTimeout(() => afterInput(look), LOOK_MS).unref();
  }

  #ask(): void {
    const nothing = { message: () => {}, ended: () => {} };
    try {
      this.#begin({ path: PROBE, metadata: {} }, nothing).finish(Buffer.alloc(0));
    } catch {
      // One that is about to close takes no probe, but may still owe replies.
    }
  }
}

function socketTo({ host, port, tls }: Endpoint): Socket {
  const address = { host, port, noDelay: true };
  if (tls === undefined) return connectPlain(address);
  const name = isIP(host) ? {} : { servername: host };
  return connectSecurely({ ...name, ...tls, ...address, ALPNProtocols: ['h2'] });
}
