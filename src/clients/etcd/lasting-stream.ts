/** A stream of messages that reopens, over any connection, for as long as it is wanted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pauseAfter } from '../opening.ts';
import type { Calls } from './calls.ts';
import { type EtcdRefusal, NoAnswer } from './errors.ts';
import type { RpcStream } from './rpc-stream.ts';

export interface StreamUse {
  readonly path: string;
  wanted(): boolean;
  /** It is there, with nothing sent over it. */
  opened(stream: RpcStream): void;
  /** @throws MalformedError, which ends the stream. */
  message(bytes: Buffer): void;
  /** It ended, or could not be opened. While it is wanted, another follows. */
  ended(error: unknown, wasOpen: boolean): void;
}

export class LastingStream {
  readonly #calls: Calls;
  readonly #use: StreamUse;
  readonly #closing = new AbortController();
  #stream: RpcStream | undefined;
  #opening = false;
  /** Since the last message. */
  #failures = 0;

  constructor(calls: Calls, use: StreamUse) {
    this.#calls = calls;
    this.#use = use;
  }

  get current(): RpcStream | undefined {
    return this.#stream;
  }

  /** Opens it if it is not open. */
  open(): void {
    if (!this.#stream && !this.#opening) void this.#keepTrying();
  }

  /** Goes on with another stream. */
  restart(why: string): void {
    this.#stream?.end(new NoAnswer(true, why));
  }

  close(): void {
    this.#closing.abort();
    this.restart('it was closed');
  }

  async #keepTrying(): Promise<void> {
    this.#opening = true;
    const { signal } = this.#closing;
    while (!this.#stream && !signal.aborted && this.#use.wanted()) {
      if (this.#failures > 1) {
        await sleep(pauseAfter(this.#failures), undefined, { signal, ref: false }).catch(() => {});
      }
      await this.#try().catch((error: unknown) => {
        this.#failures++;
        this.#use.ended(error, false);
      });
    }
    this.#opening = false;
  }

  async #try(): Promise<void> {
    let over: EtcdRefusal | NoAnswer | undefined;
    let stream: RpcStream | undefined;
    stream = await this.#calls.stream(this.#use.path, {
      message: (bytes) => {
        this.#failures = 0;
        this.#use.message(bytes);
      },
      ended: (error) => {
        over = error ?? new NoAnswer(true, 'the stream ended at once');
        if (stream && this.#stream === stream) this.#ended(error);
      },
    });
    if (over) throw over;
    this.#stream = stream;
    if (this.#closing.signal.aborted) this.restart('it was closed');
    else this.#use.opened(stream);
  }

  #ended(error: EtcdRefusal | NoAnswer | undefined): void {
    this.#stream = undefined;
    this.#failures++;
    this.#use.ended(error ?? new NoAnswer(true, 'the server ended the stream'), true);
    if (this.#use.wanted()) this.open();
  }
}
