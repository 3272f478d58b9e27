/**
 * One session with a database, kept up: one call at a time, each written at most once.
 *
 * Pools and clients keep statements for a connection that they do not have, however long, and some
 * write them again. That could make a claim that core has long given up. Therefore:
 * - a call waits for a connection for a second at most, and for its turn as long as its TTL; then
 *   it fails without having left. Calls keep their order, so no release overtakes its claim;
 * - when a connection breaks, the call written on it has an unknown outcome and is never repeated;
 * - the next call asks for a new connection, after a pause that grows up to a second, because a
 *   lease has only its TTL. A session that listens asks at once;
 * - a call without a reply after three seconds is on a half-open connection, or its server stands
 *   still: the connection is dropped. No routine waits for a lock so long;
 * - so is one whose server says that it is no primary: the next one goes where the address leads.
 * What would break it: a client that writes a statement twice, or after its promise was rejected.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError } from '../../base/errors.ts';
import { afterInput } from '../../base/event-loop.ts';
import { StoreError } from '../../contract/errors.ts';
import { abortable, limited } from '../abortable.ts';
import { markBlocked } from './apart.ts';
import type { Judgement, Routine, Source, Wire } from './wire.ts';

/** How long a call waits for a connection, and in all for its turn. */
const CONNECT_MS = 1000;
const LONGEST_TURN_MS = 10_000;
/** How long an attempt to connect may take, whatever the client's own time-out is. */
const ATTEMPT_MS = 5000;
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1000;
/** After so long without a reply, the connection is taken for dead. */
const SILENCE_MS = 3000;
/** A listening session is silent by nature; only a ping shows that nothing can come any more. */
const PING_MS = 5000;

interface Request {
  /** Never rejects. */
  readonly run: (open: Open) => Promise<void>;
  readonly fail: (error: StoreError) => void;
  /** Runs until the request has its turn. */
  timer?: NodeJS.Timeout;
}

interface Open {
  readonly wire: Wire;
  /** Aborted with the reason why the connection is no longer of use. */
  readonly over: AbortController;
}

interface Listener {
  readonly channel: string;
  readonly received: (message: string) => void;
  /** Called when it listens again after an interruption, which may have lost messages. */
  readonly resumed: () => void;
}

export class Session {
  readonly #source: Source;
  readonly #closing = new AbortController();
  readonly #queue = new Set<Request>();
  #open: Open | undefined;
  #opening = false;
  /** The request on the open wire. */
  #running: Request | undefined;
  /** One for all calls: a timer for each would cost more than the rest of this. */
  #silence: NodeJS.Timeout | undefined;
  #failures = 0;
  #failure: StoreError | undefined;
  #listener: Listener | undefined;
  #pinging: NodeJS.Timeout | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  /** Within so many ms the call is sent, or fails. */
  call(
    routine: Routine,
    args: readonly string[],
    withinMs: number = LONGEST_TURN_MS,
  ): Promise<readonly string[]> {
    return this.#ask((wire) => wire.call(routine, args), withinMs);
  }

  /** True if a call would be written at once. */
  get idle(): boolean {
    return this.#open !== undefined && !this.#running;
  }

  /** Whether messages can come; known at once when it is open. */
  hears(): boolean | Promise<boolean> {
    const hears = (wire: Wire): boolean => wire.listen !== undefined;
    return this.#open ? hears(this.#open.wire) : this.#ask(async (wire) => hears(wire));
  }

  /** Resolves when no message can be missed; later connections listen from their start. */
  async listen(listener: Listener): Promise<void> {
    await this.#ask(async (wire) => wire.listen?.(listener.channel));
    this.#listener = listener;
    this.#ping(PING_MS);
  }

  /** Rejects all calls that wait or have no reply yet, and later ones. */
  close(): void {
    const reason = closed();
    clearTimeout(this.#pinging);
    clearTimeout(this.#silence);
    this.#listener = undefined;
    this.#closing.abort(reason);
    this.#failAll(reason);
    if (this.#open) this.#drop(this.#open, reason);
  }

  #ask<T>(ask: (wire: Wire) => Promise<T>, withinMs: number = LONGEST_TURN_MS): Promise<T> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason);
    if (withinMs <= 0) return Promise.reject(notYet());
    return new Promise((resolve, reject) => {
      const request: Request = {
        run: (open) =>
          ask(open.wire).then(
            (answer) => {
              resolve(answer);
              this.#over(request);
            },
            (cause) => this.#failed(open, request, cause),
          ),
        fail: reject,
      };
      if (this.idle && this.#open) this.#run(this.#open, request);
      else this.#line(request, withinMs);
    });
  }

  #line(request: Request, withinMs: number): void {
    const late = (): void => {
      if (this.#queue.delete(request)) request.fail(this.#failure ?? notYet());
    };
    const longer = withinMs - CONNECT_MS;
    const connected = (): void => {
      if (this.#open && longer > 0) request.timer = setTimeout(() => afterInput(late), longer);
      else afterInput(late);
    };
    request.timer = setTimeout(connected, Math.min(withinMs, CONNECT_MS));
    this.#queue.add(request);
    this.#next();
  }

  #next(): void {
    const [request] = this.#queue;
    if (this.#running || !request) return;
    if (!this.#open) {
      if (!this.#opening) void this.#connect();
      return;
    }
    this.#queue.delete(request);
    clearTimeout(request.timer);
    this.#run(this.#open, request);
  }

  #run(open: Open, request: Request): void {
    this.#running = request;
    this.#silence ??= setTimeout(() => {
      const asked = this.#running;
      afterInput(() => {
        if (this.#open && asked && this.#running === asked) this.#drop(this.#open, silent());
      });
    }, SILENCE_MS).unref();
    this.#silence.refresh();
    void request.run(open);
  }

  #over(request: Request): void {
    if (this.#running !== request) return;
    this.#running = undefined;
    this.#next();
  }

  /** Does nothing for a connection that was dropped since: `#drop` has passed on the failure. */
  #failed(open: Open, request: Request, cause: unknown): void {
    if (this.#running !== request) return;
    this.#running = undefined;
    const { error, broken, blocked } = this.#judge(cause, 'call');
    if (broken) this.#drop(open, cause);
    if (blocked) markBlocked(error);
    request.fail(error);
    this.#next();
  }

  /** Never rejects. */
  async #connect(): Promise<void> {
    this.#opening = true;
    try {
      const open = await this.#attempt();
      // The connection may be over before any call had it.
      const { signal } = this.#closing.signal.aborted ? this.#closing : open.over;
      if (signal.aborted) {
        open.wire.close();
        throw signal.reason;
      }
      this.#failures = 0;
      this.#failure = undefined;
      this.#open = open;
    } catch (cause) {
      this.#failures++;
      this.#failure = this.#judge(cause, 'open').error;
      this.#failAll(this.#failure);
    }
    this.#opening = false;
    this.#next();
  }

  async #attempt(): Promise<Open> {
    const closing = this.#closing.signal;
    if (this.#failures > 0) await sleep(pauseAfter(this.#failures), undefined, { signal: closing });
    const over = new AbortController();
    return limited(ATTEMPT_MS, [closing, over.signal], (signal) => this.#tryToOpen(over, signal));
  }

  async #tryToOpen(over: AbortController, signal: AbortSignal): Promise<Open> {
    const opening = this.#source.open({
      signal,
      lost: (cause) => this.#lost(over, cause),
      heard: (message) => this.#listener?.received(message),
    });
    try {
      const wire = await abortable(signal, opening);
      const listener = this.#listener;
      if (listener && wire.listen) {
        await abortable(signal, wire.listen(listener.channel));
        listener.resumed();
      }
      return { wire, over };
    } catch (error) {
      // Also closes a connection that opens too late.
      opening.then((wire) => wire.close()).catch(() => {});
      throw error;
    }
  }

  #lost(over: AbortController, cause: unknown): void {
    if (this.#open?.over === over) this.#drop(this.#open, cause);
    else over.abort(cause);
  }

  #drop(open: Open, cause: unknown): void {
    if (open.over.signal.aborted) return;
    const running = this.#open === open ? this.#running : undefined;
    if (this.#open === open) this.#open = undefined;
    open.over.abort(cause);
    open.wire.close();
    if (running) this.#failed(open, running, cause);
    if (this.#listener) this.#ping(0);
  }

  #failAll(error: StoreError): void {
    const queue = [...this.#queue];
    this.#queue.clear();
    for (const request of queue) {
      clearTimeout(request.timer);
      request.fail(error);
    }
  }

  #judge(cause: unknown, during: 'open' | 'call'): Judgement {
    if (isLockError(cause, 'STORE')) return { error: cause as StoreError, broken: false };
    return this.#source.judge(cause, during);
  }

  /** Runs from the first success until closed. */
  #ping(ms: number): void {
    clearTimeout(this.#pinging);
    this.#pinging = setTimeout(() => {
      this.#ask((wire) => wire.ping()).then(
        () => this.#listener && this.#ping(PING_MS),
        () => this.#listener && this.#ping(0),
      );
    }, ms).unref();
  }
}

/** By chance, so that sessions do not all come back at the same moment. */
function pauseAfter(failures: number): number {
  const pause = Math.min(SHORTEST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
  return pause * (0.5 + Math.random() / 2);
}

function closed(): StoreError {
  const message = 'The connection of the locks to the database is closed.';
  return new StoreError(message, { retryable: false, outcome: 'failed' });
}

function notYet(): StoreError {
  const message = 'The request could not be sent to the database in time.';
  return new StoreError(message, { retryable: true, outcome: 'failed' });
}

function silent(): StoreError {
  const message = `The database did not answer within ${SILENCE_MS} ms.`;
  return new StoreError(message, { retryable: true, outcome: 'unknown' });
}
