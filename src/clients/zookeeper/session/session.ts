/**
 * One session, over as many connections as it takes.
 * Nodes, watches and requests belong to a session: a request is sent in the session that it was
 * made in, or not at all. An ended session stays ended, so that no request can reach another.
 *
 * It is `connected`; `suspended` at once when its connection ends, while its nodes live on at the
 * servers; `reconnected` when a server has taken it over again; `expired` when a server says so, or
 * when our own clock has counted its whole timeout since the last answered request was sent. A
 * server counts from later than that, so it is never reported alive for longer than it is, unless
 * the server that replies has itself lost its leader: see Confirmations.
 *
 * Each server gets the last transaction seen: one that lags behind refuses the connection, so reads
 * never go back in time. Only a pending request keeps the process alive.
 */
import { Answer } from '../../../base/answer.ts';
import type { Clock } from '../../../base/clock.ts';
import { isLockError } from '../../../base/errors.ts';
import { SharedTimer } from '../../../base/shared-timer.ts';
import { ClosedError } from '../../../contract/errors.ts';
import { first, limited } from '../../abortable.ts';
import type { Destination } from '../address.ts';
import { awake } from '../awake.ts';
import { authFailed, connectionLoss, refused, sessionExpired, tooLate } from '../errors.ts';
import { Hosts } from '../hosts.ts';
import { ZookeeperLink } from '../link.ts';
import { apart, NodeWatches, type Watching } from '../watches.ts';
import { Exchange, helloOf, readGreeting, type ZookeeperGreeting } from '../wire/exchange.ts';
import { authenticate, closeSession, type ZookeeperRequest } from '../wire/requests.ts';
import { Confirmations } from './confirmations.ts';
import { Vigil } from './vigil.ts';

export type SessionState = 'connecting' | 'connected' | 'suspended' | 'expired' | 'closed';

/** What listeners get; `expired` or `closed` comes last. */
export interface SessionChange {
  readonly to: 'connected' | 'suspended' | 'reconnected' | 'expired' | 'closed';
}

export interface Asking {
  /** How long its reply may take, in ms, waiting for a connection included. */
  readonly timeoutMs?: number | undefined;
  readonly watching?: Watching | undefined;
}

/** Replies of the leader, which committed them as it does any write, success or not. */
const COMMITTED = new Set([0, -101, -103, -110, -111]);
const SESSION_EXPIRED = -112;
const AUTH_FAILED = -115;
const SESSION_MOVED = -118;

const CLOSE_MS = 2000;

export class Session {
  protected readonly watches: NodeWatches;
  readonly #destination: Destination;
  readonly #clock: Clock;
  readonly #hosts: Hosts;
  /** Requests that were made while there was no connection. */
  readonly #kept = new Set<Exchange>();
  readonly #timer: SharedTimer;
  readonly #listeners: ((change: SessionChange) => void)[] = [];
  readonly #over = new AbortController();
  #state: SessionState = 'connecting';
  #greeting: ZookeeperGreeting | undefined;
  #confirmations: Confirmations | undefined;
  #vigil: Vigil | undefined;
  #lastZxid = 0n;
  #link: ZookeeperLink | undefined;
  #trouble: unknown;
  #closed: Promise<void> | undefined;
  #why: (written: boolean) => Error = (written) => connectionLoss(this.#trouble, written);

  constructor(destination: Destination, clock: Clock) {
    this.#destination = destination;
    this.watches = new NodeWatches(destination.chroot);
    this.#clock = clock;
    this.#timer = new SharedTimer(clock, true);
    this.#hosts = new Hosts(destination.addresses, clock);
    void this.#run();
  }

  get state(): SessionState {
    if (this.#vigil?.late) this.#expire('clock');
    return this.#state;
  }

  /** 0 before the first connection. No other session has the same. */
  get id(): bigint {
    return this.#greeting?.sessionId ?? 0n;
  }

  /** As granted by the servers; before the first connection, as requested. */
  get timeoutMs(): number {
    return this.#greeting?.timeoutMs ?? this.#destination.sessionTimeoutMs;
  }

  /** The clock of `touchedAt`, in ms. */
  now(): number {
    return this.#clock.now();
  }

  /** The leader keeps the session until this time and its timeout, at least. */
  get touchedAt(): number {
    return this.#confirmations?.touchedAt ?? Number.NEGATIVE_INFINITY;
  }

  listen(listener: (change: SessionChange) => void): void {
    this.#listeners.push(listener);
  }

  /** @throws RequestError, ClosedError, and what `make` throws */
  protected ask<T>(make: () => ZookeeperRequest<T>, asking: Asking = {}): Answer<T> {
    return Answer.of<T>(() => {
      const request = make();
      if (this.#closed) throw new ClosedError('This ZooKeeper session is closed');
      return this.#ask(request, asking);
    });
  }

  /** Leaves it alone: its nodes stay until its timeout has gone. */
  abandon(): void {
    this.#closed ??= Promise.resolve();
    this.#finish('closed', () => new ClosedError('This ZooKeeper session is abandoned'));
  }

  /** Ends the session at the servers, if one is reached within two seconds. Never rejects. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#greeting && !this.#over.signal.aborted) {
      const timeoutMs = Math.min(CLOSE_MS, this.timeoutMs);
      await Answer.of<void>(() => this.#ask(closeSession(), { timeoutMs })).catch(() => {});
    }
    this.#finish('closed', () => new ClosedError('This ZooKeeper session is closed'));
  }

  /** @throws RequestError if it cannot be sent */
  #ask<T>(request: ZookeeperRequest<T>, asking: Asking): Answer<T> {
    const { timeoutMs = this.timeoutMs, watching } = asking;
    // A process that stood still for too long must not go on with a session that has ended.
    if (this.#vigil?.late) this.#expire('clock');
    if (this.#over.signal.aborted) throw this.#why(false);
    const exchange = new Exchange(request, watching);
    const answer = this.#timer.limit(exchange.answer, this.#clock.now() + timeoutMs, () => {
      this.#kept.delete(exchange as Exchange);
      exchange.fail(tooLate(timeoutMs, exchange.sentAt !== undefined, this.#trouble));
    });
    if (this.#link) this.#link.send(exchange as Exchange);
    else this.#kept.add(exchange as Exchange);
    return answer;
  }

  async #run(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      try {
        await this.#visit();
      } catch (error) {
        this.#trouble = error;
      }
    }
  }

  /** Tries one server, and stays with it until the connection ends. */
  async #visit(): Promise<void> {
    const { signal } = this.#over;
    const place = await this.#hosts.next(signal);
    if (signal.aborted) return;
    const clock = this.#clock;
    const { tls } = this.#destination;
    const limitMs = this.#hosts.attemptMs(this.timeoutMs);
    const at = { host: place.ip, port: place.port };
    if (this.#greeting && !tls) await awake(at, { limitMs, signal, idle: true });
    const sentAt = clock.now();
    const hello = helloOf(this.#greeting, { lastZxid: this.#lastZxid, timeoutMs: this.timeoutMs });
    const link = new ZookeeperLink({ place, clock, tls, hello });
    const end = (): void => link.end(new Error('no longer wanted'));
    const greet = async () => readGreeting(await link.hello);
    const greeting = await limited(limitMs, [signal], (either) => first({ end }, either, greet));
    if (signal.aborted) end();
    if (link.ended) throw link.ended;
    const another = this.id !== 0n && greeting.sessionId !== this.id;
    if (greeting.timeoutMs <= 0 || greeting.sessionId === 0n || another) {
      link.end(new Error('the session has expired'));
      return this.#expire('server');
    }
    await this.#serve(link, greeting, sentAt);
  }

  #serve(link: ZookeeperLink, greeting: ZookeeperGreeting, sentAt: number): Promise<void> {
    const again = this.#greeting !== undefined;
    this.#greeting = greeting;
    this.#vigil ??= new Vigil(greeting.timeoutMs, sentAt, {
      clock: this.#clock,
      choice: this.#destination.addresses.length > 1,
      expired: () => this.#expire('clock'),
    });
    this.#confirmations ??= new Confirmations(greeting.timeoutMs, sentAt);
    this.#confirmations.connected(sentAt);
    this.#vigil.answered(sentAt);
    this.#link = link;
    this.#state = 'connected';
    return new Promise((resolve) => {
      link.serve({
        answered: (at) => {
          this.#vigil?.answered(at);
          this.#confirmations?.answered(at, this.#clock.now());
        },
        replied: (exchange, zxid, code) => this.#replied(exchange, zxid, code),
        event: (body) => this.watches.take(body),
        ended: (error) => {
          this.#suspend(link, error);
          resolve();
        },
      });
      this.#sendAll(link);
      this.#vigil?.watch(link);
      this.#tell(again ? 'reconnected' : 'connected');
    });
  }

  /** Over a new connection: identities, then watches, then requests. */
  #sendAll(link: ZookeeperLink): void {
    for (const auth of this.#destination.auths) {
      const exchange = new Exchange(authenticate(auth), undefined);
      exchange.answer.catch(() => {});
      link.send(exchange as Exchange);
    }
    for (const frame of this.watches.frames(this.#lastZxid)) link.write(frame);
    for (const request of this.#kept) link.send(request);
    this.#kept.clear();
  }

  #replied(exchange: Exchange, zxid: bigint, code: number): void {
    this.#hosts.worked();
    if (zxid > this.#lastZxid) this.#lastZxid = zxid;
    const { request, watching, sentAt = 0 } = exchange;
    if (request.writes && COMMITTED.has(code)) {
      this.#confirmations?.committed(sentAt, this.#clock.now());
    }
    if (watching && !exchange.settled) this.watches.keep(request.path, watching, code);
    if (code === SESSION_EXPIRED) this.#expire('server');
    else if (code === SESSION_MOVED) this.#link?.end(refused(code, ''));
    else if (code === AUTH_FAILED) this.#finish('closed', authFailed);
  }

  #suspend(link: ZookeeperLink, cause: Error): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    this.#trouble = cause;
    this.#vigil?.watch(undefined);
    if (this.#over.signal.aborted) return;
    this.#state = 'suspended';
    this.#tell('suspended');
  }

  #expire(by: 'server' | 'clock'): void {
    this.#finish('expired', (written) => sessionExpired(by, written));
  }

  #finish(to: 'expired' | 'closed', why: (written: boolean) => Error): void {
    if (this.#over.signal.aborted) return;
    this.#state = to;
    this.#why = why;
    this.#vigil?.end();
    this.#over.abort();
    const cause = why(true);
    this.#link?.end(cause, isLockError(cause, 'STORE') ? cause : connectionLoss(cause, true));
    for (const request of this.#kept) request.fail(why(false));
    this.#kept.clear();
    this.watches.expire();
    this.#tell(to);
    this.#timer.close();
  }

  #tell(to: SessionChange['to']): void {
    for (const listener of this.#listeners) apart(() => listener({ to }));
  }
}
