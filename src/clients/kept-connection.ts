/**
 * One connection to a server, kept up, on which each request is written at most once.
 *
 * Client packages keep requests for a connection that they do not have and write them when there is
 * one, however late, or write again what a broken connection left unanswered. That could make a
 * claim that core has long given up. So their queues, resends and reconnecting are off, and this
 * file replaces them:
 * - a request waits for a connection for two seconds, and for its turn as long as its caller
 *   allows; then it fails without having left. Requests keep their order, so that a release never
 *   overtakes its claim;
 * - when a connection breaks, the requests written on it have an unknown outcome and are never
 *   written again; tombstones take care of a copy that the network holds back;
 * - the next request asks for a new connection, after a pause that grows up to a second, because a
 *   lease has only its TTL. A connection that listens is replaced at once;
 * - a connection that owes a reply and has given none for a few seconds is dropped (silence.ts);
 * - so is one whose server says that it is no primary: the next one goes where the address leads.
 * What would break it: a client that writes a request twice, or after its promise was rejected; or
 * taking our own pause for the server's silence.
 */
import { Answer } from '../base/answer.ts';
import { isLockError } from '../base/errors.ts';
import { afterInput, detached } from '../base/event-loop.ts';
import { StoreError, temporaryFailure } from '../contract/errors.ts';
import { Opening } from './opening.ts';
import { Silence } from './silence.ts';
import { closed, isLasting, type Judgement, type Source, type Wire } from './wire.ts';

/**
 * How long a request waits for a connection, and in all for its turn. The first packet of one, if
 * it is lost, is sent again after a second (RFC 6298, 2.1).
 */
const CONNECT_MS = 2000;
const LONGEST_TURN_MS = 10_000;
/** A listening connection is silent by nature; only a ping shows that nothing can come any more. */
const PING_MS = 5000;
/** The pause before the next ping, where the server has refused the last for lasting reasons. */
const REFUSED_MS = 60_000;

interface WireRequest<W> {
  readonly write: (wire: W) => Promise<unknown>;
  readonly terms: RequestTerms;
  readonly answer: Answer<unknown>;
  /** Runs until the request has its turn. */
  timer?: NodeJS.Timeout;
}

export interface RequestTerms {
  /** The request is written within this many ms, or fails. */
  readonly withinMs?: number | undefined;
  /** The server may reply to nothing for this many ms. */
  readonly quietMs?: number;
}

export interface ChannelListener {
  readonly channel: string;
  readonly received: (message: string) => void;
  /** Called when it listens again after an interruption, which may have lost messages. */
  readonly resumed: () => void;
}

export class KeptConnection<W extends Wire> {
  readonly #source: Source<W>;
  readonly #opening: Opening<W>;
  readonly #closing = new AbortController();
  readonly #waiting = new Set<WireRequest<W>>();
  /** The requests on the open wire that have no reply. */
  readonly #written = new Set<WireRequest<W>>();
  readonly #silence: Silence;
  #wire: W | undefined;
  #connecting = false;
  #failure: StoreError | undefined;
  readonly #listeners = new Map<string, ChannelListener>();
  #pinging: NodeJS.Timeout | undefined;

  constructor(source: Source<W>) {
    this.#source = source;
    const silent = (): void => this.#wire && this.drop(this.#wire, this.#silent());
    this.#silence = new Silence(source.silenceMs, silent);
    this.#opening = new Opening(source, {
      closing: this.#closing.signal,
      received: (message, channel) => this.#received(message, channel),
      ready: (wire) => this.#resume(wire),
    });
  }

  get wire(): W | undefined {
    return this.#wire;
  }

  /** True if nothing is under way, and a request would be written at once. */
  get idle(): boolean {
    return this.#wire !== undefined && this.#written.size === 0;
  }

  /**
   * Writes a request on the wire, now or later, and settles with its reply.
   * @throws StoreError
   */
  ask<R>(write: (wire: W) => Promise<R>, terms: RequestTerms = {}): Answer<R> {
    const { withinMs = LONGEST_TURN_MS } = terms;
    const answer = new Answer<R>();
    const request: WireRequest<W> = { write, terms, answer };
    if (this.#closing.signal.aborted) answer.fail(this.#closing.signal.reason);
    else if (withinMs <= 0) answer.fail(this.#notYet());
    // Those that wait come first, also while they are being written.
    else if (this.#wire && this.#waiting.size === 0 && this.#hasRoom()) {
      this.#run(this.#wire, request);
    } else this.#line(request, withinMs);
    return answer;
  }

  /** Resolves when no message can be missed; later connections listen from their start. */
  async listen(listener: ChannelListener, terms?: RequestTerms): Promise<void> {
    await this.ask(async (wire) => wire.listen?.(listener.channel), terms);
    this.#listeners.set(listener.channel, listener);
    this.#ping(PING_MS);
  }

  async unlisten(channel: string): Promise<void> {
    if (!this.#listeners.delete(channel)) return;
    await this.ask(async (wire) => wire.unlisten?.(channel));
  }

  /** Ends the wire, if it is the open one: a reply, or the client, shows that it is of no use. */
  drop(wire: W, cause: unknown): void {
    if (this.#wire !== wire) return;
    this.#wire = undefined;
    this.#silence.end();
    const written = [...this.#written];
    this.#written.clear();
    wire.close();
    const { message, cause: known, retryable } = this.#judge(cause, 'call').error;
    const lost = new StoreError(message, { cause: known, retryable, outcome: 'unknown' });
    if (this.#listeners.size > 0) this.#ping(0);
    this.#next();
    for (const { answer } of written) answer.fail(lost);
  }

  /** Its server may have changed: a wire that is opened from now on takes its place. */
  move(): void {
    this.#opening.move();
    if (this.#wire) this.drop(this.#wire, new Error('Connection is closed.'));
  }

  /** Rejects all requests that wait or have no reply yet, and later ones. */
  close(reason: StoreError = closed(this.#source.server)): void {
    clearTimeout(this.#pinging);
    this.#listeners.clear();
    this.#closing.abort(reason);
    this.#failWaiting(reason);
    if (this.#wire) this.drop(this.#wire, reason);
  }

  #hasRoom(): boolean {
    return this.#written.size < this.#source.atOnce;
  }

  #run(wire: W, request: WireRequest<W>): void {
    const { write, terms, answer } = request;
    this.#written.add(request);
    this.#silence.asked(terms.quietMs ?? 0);
    Answer.of(() => write(wire)).on({
      settle: (value) => {
        if (!this.#settled(request)) return;
        this.#next();
        answer.settle(value);
      },
      fail: (cause) => this.#failed(wire, request, cause),
    });
  }

  /** False if the request has been failed since. */
  #settled(request: WireRequest<W>): boolean {
    const first = this.#written.delete(request);
    if (first) this.#silence.replied();
    return first;
  }

  #failed(wire: W, request: WireRequest<W>, cause: unknown): void {
    if (!this.#settled(request)) return;
    const { error, broken } = this.#judge(cause, 'call');
    if (broken) this.drop(wire, cause);
    else this.#next();
    request.answer.fail(error);
  }

  #line(request: WireRequest<W>, withinMs: number): void {
    const late = (): void => {
      if (this.#waiting.delete(request)) request.answer.fail(this.#failure ?? this.#notYet());
    };
    const connected = (): void => {
      if (!this.#wire || withinMs <= CONNECT_MS) late();
      else if (this.#waiting.has(request))
        request.timer = setTimeout(afterInput, withinMs - CONNECT_MS, late);
    };
    request.timer = setTimeout(afterInput, Math.min(withinMs, CONNECT_MS), connected);
    this.#waiting.add(request);
    this.#next();
  }

  /** In one go, so that no new request overtakes those that wait. */
  #next(): void {
    for (const request of this.#waiting) {
      if (!this.#wire) {
        if (!this.#connecting) void detached(() => this.#connect());
        return;
      }
      if (!this.#hasRoom()) return;
      this.#waiting.delete(request);
      clearTimeout(request.timer);
      this.#run(this.#wire, request);
    }
  }

  #failWaiting(error: StoreError): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const request of waiting) {
      clearTimeout(request.timer);
      request.answer.fail(error);
    }
  }

  /** Never rejects. */
  async #connect(): Promise<void> {
    this.#connecting = true;
    try {
      const { wire, over } = await this.#opening.next();
      // It may be over before any request had it.
      const signal = this.#closing.signal.aborted ? this.#closing.signal : over;
      if (signal.aborted) {
        wire.close();
        throw signal.reason;
      }
      over.addEventListener('abort', () => this.drop(wire, over.reason));
      wire.unref();
      this.#wire = wire;
      this.#failure = undefined;
    } catch (cause) {
      this.#failure = this.#judge(cause, 'open').error;
    }
    this.#connecting = false;
    if (this.#failure) this.#failWaiting(this.#failure);
    this.#next();
  }

  /** Makes a new wire listen as the last one did, before it counts as open. */
  async #resume(wire: W): Promise<void> {
    if (!wire.listen) return;
    const listeners = [...this.#listeners.values()];
    for (const { channel } of listeners) await wire.listen(channel);
    for (const { resumed } of listeners) resumed();
  }

  /** A wire that does not say which channel has one. */
  #received(message: string, channel: string | undefined): void {
    if (channel !== undefined) this.#listeners.get(channel)?.received(message);
    else for (const { received } of this.#listeners.values()) received(message);
  }

  /** Runs from the first success until closed. */
  #ping(ms: number): void {
    clearTimeout(this.#pinging);
    if (this.#closing.signal.aborted) return;
    this.#pinging = setTimeout(() => {
      this.ask((wire) => wire.ping()).then(
        () => this.#ping(PING_MS),
        (error: unknown) => this.#ping(isLasting(error) ? REFUSED_MS : 0),
      );
    }, ms).unref();
  }

  #judge(cause: unknown, during: 'open' | 'call'): Judgement {
    if (isLockError(cause, 'STORE')) return { error: cause as StoreError, broken: false };
    return this.#opening.judge(cause, during);
  }

  #notYet(): StoreError {
    if (!this.#wire) return this.#judge(new Error('timeout: no connection yet'), 'open').error;
    return temporaryFailure(`The request could not be sent to ${this.#source.server} in time.`);
  }

  #silent(): Error {
    const { server, silenceMs } = this.#source;
    const terms = { retryable: true, outcome: 'unknown' } as const;
    return new StoreError(`No reply came from ${server} within ${silenceMs} ms.`, terms);
  }
}
