/** One exchange of gRPC messages, over one stream of an HTTP/2 connection. */
import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import { Frames, type Head } from '../frames.ts';
import { EtcdRefusal, NoAnswer, Status } from './errors.ts';
import { MalformedError } from './wire/wire-format.ts';

/** Far above any reply of etcd, in bytes: its requests are limited to 1.5 MB by default. */
const MAX_MESSAGE = 256 * 1024 * 1024;

/** Before each message, gRPC has whether it is compressed, which is always no, and its length. */
export const HEAD: Head = {
  bytes: 5,
  lengthIn: (start) => {
    if (start[0] !== 0) throw new MalformedError('an answer is compressed, or no gRPC');
    const length = start.readUInt32BE(1);
    if (length > MAX_MESSAGE) throw new MalformedError('an answer is too large');
    return length;
  },
};

export function frame(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(HEAD.bytes + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, HEAD.bytes);
  return framed;
}

export interface Received {
  /** @throws MalformedError, which ends the stream. */
  message(bytes: Buffer): void;
  /** Called once, as the last; without an error if all is well. */
  ended(error: EtcdRefusal | NoAnswer | undefined): void;
}

/** A stream's view of its connection. */
export interface StreamCourse {
  arrived(): void;
  /** One more stream awaits something, or one less. */
  expecting(change: 1 | -1): void;
  /** Whether the server may have processed the stream of this number. */
  reached(stream: number | undefined): boolean;
  readonly cause: unknown;
}

/** What gateways send instead of gRPC's own states. */
const STATUS_OF_HTTP = new Map([
  [401, Status.unauthenticated],
  [404, Status.unimplemented],
  [429, Status.unavailable],
  [502, Status.unavailable],
  [503, Status.unavailable],
  [504, Status.unavailable],
]);

export class RpcStream {
  readonly #http: ClientHttp2Stream;
  readonly #course: StreamCourse;
  readonly #received: Received;
  readonly #frames = new Frames(HEAD);
  #expecting = false;
  #ended = false;
  #refusal: EtcdRefusal | 'well' | undefined;
  #failure: unknown;

  constructor(http: ClientHttp2Stream, course: StreamCourse, received: Received) {
    this.#http = http;
    this.#course = course;
    this.#received = received;
    http.once('response', (headers) => this.#answered(headers));
    http.once('trailers', (trailers) => this.#judged(trailers));
    http.on('data', (piece: Buffer) => this.#take(piece));
    http.on('error', (error) => {
      this.#failure ??= error;
    });
    http.once('close', () => this.#closed());
  }

  write(message: Buffer): void {
    if (!this.#ended) this.#http.write(frame(message));
  }

  finish(message: Buffer): void {
    if (!this.#ended) this.#http.end(frame(message));
  }

  /** Whether something is to come; until then the server's silence means nothing. */
  expect(more: boolean): void {
    if (this.#expecting === more || (more && this.#ended)) return;
    this.#expecting = more;
    this.#course.expecting(more ? 1 : -1);
  }

  end(error: NoAnswer): void {
    this.#end(error);
    // Not at once: the current event may be one in which nothing may be sent (see Channel).
    setImmediate(() => this.#http.close(constants.NGHTTP2_CANCEL));
  }

  #answered(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    this.#course.arrived();
    const { ':status': http = 0, 'content-type': type } = headers;
    if (http !== 200) {
      const status = STATUS_OF_HTTP.get(http) ?? Status.unknown;
      this.#refusal = new EtcdRefusal(status, `HTTP state ${http}`);
    } else if (!type?.startsWith('application/grpc')) {
      this.end(new NoAnswer(true, new MalformedError('the answer is not of etcd')));
    } else {
      this.#judged(headers);
    }
  }

  #judged(headers: IncomingHttpHeaders): void {
    const status = headers['grpc-status'];
    if (status === undefined) return;
    const message = headers['grpc-message'];
    const said = typeof message === 'string' ? decoded(message) : '';
    this.#refusal = status === '0' ? 'well' : new EtcdRefusal(Number(status), said);
  }

  #take(piece: Buffer): void {
    if (this.#ended) return;
    this.#course.arrived();
    try {
      for (const message of this.#frames.add(piece)) {
        if (!this.#ended) this.#received.message(message);
      }
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      this.end(new NoAnswer(true, error));
    }
  }

  #closed(): void {
    const { rstCode, id } = this.#http;
    if (this.#refusal === 'well' && !this.#frames.begun) this.#end(undefined);
    else if (this.#refusal instanceof EtcdRefusal) this.#end(this.#refusal);
    else {
      const refused = rstCode === constants.NGHTTP2_REFUSED_STREAM;
      const cause = this.#course.cause ?? this.#failure ?? new Error('the answer ended too early');
      this.#end(new NoAnswer(!refused && this.#course.reached(id), cause));
    }
  }

  #end(error: EtcdRefusal | NoAnswer | undefined): void {
    if (this.#ended) return;
    this.expect(false);
    this.#ended = true;
    this.#received.ended(error);
  }
}

/** gRPC percent-encodes unprintable text; anything else stays. */
function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
