/**
 * What a kept-up connection needs of a protocol: how to open, ping, listen and close, and what an
 * error means.
 */
import { isLockError } from '../base/errors.ts';
import { permanentFailure, type StoreError } from '../contract/errors.ts';

/** One connection of a client package. It never reconnects. */
export interface Wire {
  /** Undefined if the server's messages do not come over this wire. */
  readonly listen?: ((channel: string) => Promise<unknown>) | undefined;
  readonly unlisten?: ((channel: string) => Promise<unknown>) | undefined;
  ping(): Promise<unknown>;
  /** From now on it no longer keeps the process alive, whatever is under way. */
  unref(): void;
  /** Ends it at once, whatever the network does. */
  close(): void;
}

export interface WireTerms {
  readonly signal: AbortSignal;
  readonly lost: (cause: unknown) => void;
  /** To be called with each message, and its channel if there may be several. */
  readonly received: (message: string, channel?: string) => void;
}

export interface Source<W extends Wire> {
  /** Names the server in messages, such as `the database`. */
  readonly server: string;
  /** Where its wires lead to, by the client's settings, if they are to be counted. */
  readonly place?: object | undefined;
  /** What to ask of a server that has never replied, such as whether it speaks TLS. */
  readonly question?: string;
  /** How long, in ms, a server may owe a reply before it is taken for dead. */
  readonly silenceMs: number;
  readonly atOnce: number;
  /** A wire to a server that is fit for use; rejects with the reason if it is not. */
  open(terms: WireTerms): Promise<W>;
  /** The meaning of an error of `open`, or of a request that may have been carried out. */
  judge(error: unknown, during: 'open' | 'call'): Judgement;
  /** The pause before the next try to connect, in ms, after this many failures in a row. */
  pause?(failures: number, cause: unknown): number;
}

export interface Judgement {
  readonly error: StoreError;
  /** The wire is of no further use. */
  readonly broken: boolean;
  /** The server has said nothing. */
  readonly mute?: boolean | undefined;
}

export interface MessageSource {
  /** Its messages are what this process itself has read, so no other process can make one up. */
  readonly own?: boolean | undefined;
  /** `resumed` is called after an interruption, which may have lost messages. */
  listen(channel: string, received: (message: string) => void, resumed: () => void): Promise<void>;
}

/** True if the error will not pass by itself. */
export function isLasting(error: unknown): boolean {
  return isLockError(error, 'STORE') && !(error as StoreError).retryable;
}

export function closed(server: string): StoreError {
  return permanentFailure(`The connection of the locks to ${server} is closed.`);
}
