/**
 * Commands over one connection at a time, each written at most once.
 *
 * A client package would keep commands for a connection that it does not have and write them when
 * there is one, however late, or write again what a broken connection left unanswered. That could
 * make a claim that core has long given up. So the packages' queues, resends and reconnecting are
 * off, and this file replaces them:
 * - a command waits for a connection that is being made, for a second at most; then it fails
 *   without having left. Commands keep their order, so a release never overtakes its claim;
 * - when a connection breaks, the commands written on it have an unknown outcome and are never
 *   written again; tombstones take care of a copy that the network holds back;
 * - the next command asks for a new connection. The client's own reconnect strategy sets the pause
 *   after a failure, up to a second, because a lease has only its TTL;
 * - a connection that owes a reply and has given none for three seconds is half-open, or its server
 *   stands still: it is dropped, as nothing written on it would be of use;
 * - one whose server says that it is no primary (any more) is dropped as well: the next one goes
 *   where the address, or Sentinel, leads by then.
 * What would break it: a client that writes a command twice, or after its promise was rejected; or
 * taking our own pause for the server's silence.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterInput } from '../../base/event-loop.ts';
import { StoreError } from '../../contract/errors.ts';
import { abortable, limited } from '../abortable.ts';
import { connectionError, refusalCode, refusalIn, refused } from './errors.ts';
import type { Refusal, Reply } from './link.ts';
import { replyOf } from './replies.ts';

/** One connection of a client package. It never reconnects. */
export interface Wire {
  /** Writes the command in this turn, after those before it; settles with the package's reply. */
  send(command: readonly string[]): Promise<unknown>;
  /** Commands sent by `work` may be written together. */
  together(work: () => void): void;
  subscribe(channel: string, received: (message: string) => void): Promise<unknown>;
  /** Ends it at once; commands without a reply are rejected. */
  close(): void;
}

export interface WireTerms {
  /** Gives up connecting. */
  readonly signal: AbortSignal;
  /** To be called when the wire breaks, or receives a malformed reply. */
  readonly lost: (cause: unknown) => void;
}

/** How to reach a server. */
export interface Source {
  /** A wire that takes commands; rejects with the package's reason. */
  open(terms: WireTerms): Promise<Wire>;
  /** The pause before the next try, in ms, after so many failures in a row. */
  pause(failures: number, cause: unknown): number;
}

/** How long a command waits for a connection. */
const CONNECT_MS = 1000;
/** How long an attempt to connect may take, whatever the client's own time-out is. */
const ATTEMPT_MS = 5000;
const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1000;
/** After twice this without any reply, the connection is taken for dead. */
const SILENCE_MS = 1500;

interface Waiter {
  readonly write: (wire: Wire) => void;
  readonly fail: (error: StoreError) => void;
}

export class Connection {
  readonly #source: Source;
  readonly #closing = new AbortController();
  readonly #waiting = new Set<Waiter>();
  #wire: Wire | undefined;
  #opening = false;
  #failures = 0;
  #failedWith: unknown;
  #written = 0;
  #answered = 0;
  #watching = false;
  #quietUntil = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  send(command: readonly string[]): Promise<Reply> {
    const wire = this.#wire;
    return wire ? this.#ask(wire, command) : this.#later((opened) => this.#ask(opened, command));
  }

  sendAll(commands: readonly (readonly string[])[]): Promise<(Reply | Refusal)[]> {
    const wire = this.#wire;
    return wire ? this.#askAll(wire, commands) : this.#later((it) => this.#askAll(it, commands));
  }

  /** Rejects all commands that wait or have no reply yet, and later ones. */
  close(reason: StoreError = closed()): void {
    this.#closing.abort(reason);
    this.#failAll(reason);
    if (this.#wire) this.#drop(this.#wire);
  }

  #ask(wire: Wire, command: readonly string[]): Promise<Reply> {
    this.#written++;
    // The server replies to nothing on this connection until the replicas are there.
    if (command[0] === 'WAIT') this.#quietUntil = performance.now() + Number(command[2]);
    if (!this.#watching) this.#watch();
    return wire.send(command).then(this.#reply, (error: unknown) => this.#error(wire, error));
  }

  async #askAll(
    wire: Wire,
    commands: readonly (readonly string[])[],
  ): Promise<(Reply | Refusal)[]> {
    let answers: Promise<Reply | Refusal>[] = [];
    wire.together(() => {
      answers = commands.map((command) => this.#ask(wire, command).catch(refusalOrThrow));
    });
    return Promise.all(answers);
  }

  readonly #reply = (raw: unknown): Reply => {
    this.#answered++;
    return replyOf(raw);
  };

  #error(wire: Wire, error: unknown): never {
    this.#answered++;
    const refusal = refusalIn(error);
    // An error that is no reply ends the connection, even before the client notices.
    if (refusal === undefined || refusalCode(refusal) === 'READONLY') this.#drop(wire);
    throw refusal === undefined ? connectionError(error, true) : refused(refusal);
  }

  /** Writes as soon as there is a connection. */
  #later<T>(write: (wire: Wire) => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#closing.signal.reason);
    return new Promise((resolve, reject) => {
      const late = (): void => {
        if (this.#waiting.delete(waiter)) reject(notYet(this.#failedWith));
      };
      const timer = setTimeout(() => afterInput(late), CONNECT_MS);
      const waiter: Waiter = {
        write: (wire) => {
          clearTimeout(timer);
          resolve(write(wire));
        },
        fail: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      this.#waiting.add(waiter);
      if (!this.#opening) void this.#open();
    });
  }

  async #open(): Promise<void> {
    this.#opening = true;
    try {
      await this.#attempt();
    } catch (error) {
      this.#failures++;
      this.#failedWith = error;
      this.#failAll(connectionError(error, false));
    } finally {
      this.#opening = false;
    }
  }

  async #attempt(): Promise<void> {
    const closing = this.#closing.signal;
    if (this.#failures > 0) {
      const pause = this.#source.pause(this.#failures, this.#failedWith);
      await sleep(Math.max(SHORTEST_PAUSE_MS, Math.min(pause, LONGEST_PAUSE_MS)), undefined, {
        signal: closing,
      });
    }
    let wire: Wire | undefined;
    let broken = false;
    let reason: unknown;
    const lost = (cause: unknown): void => {
      broken = true;
      reason ??= cause;
      if (wire) this.#drop(wire);
    };
    wire = await limited(ATTEMPT_MS, [closing], (signal) => this.#source.open({ signal, lost }));
    broken ||= closing.aborted;
    if (!broken) return this.#opened(wire);
    wire.close();
    throw reason;
  }

  /** In one go, so that no new command overtakes those that wait. */
  #opened(wire: Wire): void {
    this.#wire = wire;
    this.#failures = 0;
    this.#failedWith = undefined;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const waiter of waiting) waiter.write(wire);
  }

  #failAll(error: StoreError): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const waiter of waiting) waiter.fail(error);
  }

  #drop(wire: Wire): void {
    if (this.#wire !== wire) return;
    this.#wire = undefined;
    wire.close();
  }

  /** Checks now and then, while replies are owed, whether any has come. */
  #watch(): void {
    this.#watching = true;
    const wire = this.#wire;
    const owed = this.#written > this.#answered;
    const answered = this.#answered;
    const look = (): void => {
      this.#watching = false;
      const silent = owed && this.#answered === answered && performance.now() > this.#quietUntil;
      if (silent && wire && this.#wire === wire) this.#drop(wire);
      else if (this.#written > this.#answered) this.#watch();
    };
    setTimeout(() => afterInput(look), SILENCE_MS).unref();
  }
}

/** The same source, but `greet` questions the server of a wire before it is handed out. */
export function greeted(
  source: Source,
  greet: (ask: (command: readonly string[]) => Promise<Reply>) => Promise<void>,
): Source {
  return {
    pause: source.pause,
    open: async (terms) => {
      const wire = await source.open(terms);
      try {
        const ask = async (command: readonly string[]) => replyOf(await wire.send(command));
        // As long as a connection may be silent, since a server that stands still may be replaced.
        await limited(2 * SILENCE_MS, [terms.signal], (signal) => abortable(signal, greet(ask)));
        return wire;
      } catch (error) {
        wire.close();
        throw error;
      }
    },
  };
}

function refusalOrThrow(error: unknown): Refusal {
  if (refusalCode(error) === undefined) throw error;
  return { refusal: ((error as StoreError).cause as Error).message };
}

export function closed(): StoreError {
  const message = 'The connection of the locks to the Redis server is closed.';
  return new StoreError(message, { retryable: false, outcome: 'failed' });
}

function notYet(lastFailure: unknown): StoreError {
  if (lastFailure !== undefined) return connectionError(lastFailure, false);
  const message = `The Redis server did not accept the connection within ${CONNECT_MS} ms.`;
  return new StoreError(message, { retryable: true, outcome: 'failed' });
}
