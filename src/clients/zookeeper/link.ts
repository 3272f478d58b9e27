/**
 * One connection to one server, from its first request to its end.
 *
 * A server answers the requests of a connection in their order, so each reply must be for the
 * oldest open request; anything else ends the connection, because nothing on it can be trusted
 * then. A request counts as written once it is given to the socket: whether it arrived is unknown.
 * Requests of one turn leave in one piece. A caller hears its reply at once, and may ask
 * again: so a connection ends before what is open on it fails.
 */
import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { Fifo } from '../../base/fifo.ts';
import { Frames } from '../frames.ts';
import { connectionLoss, refused, tooLong } from './errors.ts';
import type { ResolvedHost } from './hosts.ts';
import type { Exchange } from './wire/exchange.ts';
import {
  GarbageError,
  HEAD,
  JuteReader,
  JuteWriter,
  LongFrameError,
  MAX_ANSWER,
} from './wire/jute.ts';
import { OPCODE } from './wire/requests.ts';

/** Replies outside the queue of requests have fixed numbers. */
const XID = { event: -1, ping: -2, auth: -4, watches: -8 } as const;
const MAX_XID = 2 ** 31 - 1;

const PING = new JuteWriter().int(XID.ping).int(OPCODE.ping).frame();

export interface LinkTerms {
  readonly place: ResolvedHost;
  readonly tls: ConnectionOptions | undefined;
  readonly clock: Clock;
  readonly hello: Buffer;
}

/** Events in this order: any number of replies and events, then the end. */
export interface LinkEvents {
  answered(sentAt: number): void;
  /** `code` is 0 for success. Called before the reply settles the exchange. */
  replied(exchange: Exchange, zxid: bigint, code: number): void;
  event(body: JuteReader): void;
  ended(error: Error): void;
}

export class ZookeeperLink {
  /** The reply to the first request. */
  readonly hello: Promise<JuteReader>;
  answeredAt: number;
  sentAt: number;
  readonly #clock: Clock;
  readonly #socket: Socket;
  readonly #frames = new Frames(HEAD);
  readonly #pings: number[] = [];
  readonly #auths: Exchange[] = [];
  readonly #waiting = new Fifo<Exchange>();
  #outbox: Buffer[] = [];
  #xid = 0;
  #events: LinkEvents | undefined;
  ended: Error | undefined;
  #greet: (answer: JuteReader) => void = () => {};
  #refuse: (error: Error) => void = () => {};

  constructor({ place, tls, clock, hello }: LinkTerms) {
    this.#clock = clock;
    this.answeredAt = clock.now();
    this.sentAt = this.answeredAt;
    this.hello = new Promise((resolve, reject) => {
      this.#greet = resolve;
      this.#refuse = reject;
    });
    this.#socket = socketTo(place, tls);
    this.#socket.unref();
    this.#socket.once(tls ? 'secureConnect' : 'connect', () => this.#socket.write(hello));
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#socket.on('error', (error) => this.end(error));
    this.#socket.on('close', () => this.end(new Error('the server ended the connection')));
  }

  /** When the oldest unanswered request was sent; infinite: all are answered. */
  get waitingSince(): number {
    const oldest = [this.#waiting.first?.sentAt, this.#auths[0]?.sentAt, this.#pings[0]];
    return Math.min(...oldest.filter((sentAt) => sentAt !== undefined));
  }

  /** After the first reply: where the others go. */
  serve(events: LinkEvents): void {
    this.#events = events;
  }

  send(exchange: Exchange): void {
    if (exchange.request.opcode === OPCODE.auth) {
      exchange.number(XID.auth);
      this.#auths.push(exchange);
    } else {
      this.#xid = this.#xid === MAX_XID ? 1 : this.#xid + 1;
      exchange.number(this.#xid);
      this.#waiting.push(exchange);
    }
    exchange.sentAt = this.#clock.now();
    this.write(exchange.frame, exchange.sentAt);
  }

  ping(): void {
    this.#pings.push(this.#clock.now());
    this.write(PING);
  }

  /** A frame whose reply is not reported. */
  write(frame: Buffer, sentAt: number = this.#clock.now()): void {
    this.sentAt = sentAt;
    if (this.ended) return;
    if (this.#outbox.push(frame) === 1) queueMicrotask(() => this.#flush());
  }

  /** Ends the connection; unanswered requests fail with `fate`. */
  end(error: Error, fate: Error = connectionLoss(error, true)): void {
    if (this.ended) return;
    this.ended = error;
    this.#socket.destroy();
    this.#refuse(error);
    this.#events?.ended(error);
    for (const exchange of [...this.#waiting.all(), ...this.#auths]) exchange.fail(fate);
  }

  #flush(): void {
    const frames = this.#outbox;
    this.#outbox = [];
    if (this.ended) return;
    const [first] = frames;
    this.#socket.write(frames.length === 1 && first ? first : Buffer.concat(frames));
  }

  #take(chunk: Buffer): void {
    this.answeredAt = this.#clock.now();
    try {
      for (const frame of this.#frames.add(chunk)) {
        if (this.ended) return;
        const reader = new JuteReader(frame);
        if (this.#events) this.#reply(reader, this.#events);
        else this.#greet(reader);
      }
    } catch (error) {
      if (error instanceof LongFrameError) this.#refuseLong(error);
      else this.end(error as Error);
    }
  }

  /** Fails the request for good: a retry would get the same reply. */
  #refuseLong(error: LongFrameError): void {
    const exchange = this.#waiting.first;
    if (exchange?.xid !== error.xid) return this.end(error);
    this.#waiting.remove(exchange);
    this.end(error);
    const about = JSON.stringify(exchange.request.path);
    exchange.fail(
      tooLong(`The answer about ${about} has ${error.bytes} bytes; the limit is ${MAX_ANSWER}.`),
    );
  }

  #reply(body: JuteReader, events: LinkEvents): void {
    const xid = body.int();
    const zxid = body.long();
    const code = body.int();
    if (xid === XID.event) return events.event(body);
    if (xid === XID.watches) {
      if (code !== 0) throw refused(code, '');
      return;
    }
    if (xid === XID.ping) return this.#signOfLife(this.#pings.shift(), events);
    const exchange = xid === XID.auth ? this.#auths.shift() : this.#oldest(xid);
    this.#signOfLife(exchange?.sentAt, events);
    if (!exchange) return;
    events.replied(exchange, zxid, code);
    if (code !== 0) return exchange.fail(refused(code, exchange.request.path));
    try {
      exchange.take(body);
    } catch (error) {
      this.end(error as Error);
      exchange.fail(connectionLoss(error, true));
    }
  }

  #signOfLife(sentAt: number | undefined, events: LinkEvents): void {
    if (sentAt === undefined) throw new GarbageError('a reply without a request');
    events.answered(sentAt);
  }

  #oldest(xid: number): Exchange {
    const exchange = this.#waiting.first;
    if (exchange?.xid !== xid) throw new GarbageError(`the reply ${xid} is not the next`);
    this.#waiting.remove(exchange);
    return exchange;
  }
}

/** With TLS, the server's certificate has to be for `host`. */
export function socketTo({ ip, port, host }: ResolvedHost, tls?: ConnectionOptions): Socket {
  if (tls === undefined) return connect({ host: ip, port, noDelay: true });
  const servername = isIP(host) ? {} : { servername: host };
  return connectTls({ ...servername, ...tls, host: ip, port }).setNoDelay(true);
}
