/**
 * Listening to one channel, for as long as the process lives.
 *
 * A subscription is silent by nature, so nobody would notice that its connection is half-open or
 * was made to a node that is gone. A PING every five seconds does, on the same connection; it also
 * makes the next one. Messages of the time between are lost, which `resumed` tells.
 */
import { abortable } from '../abortable.ts';
import { Connection, type Source } from './connection.ts';

const PING_MS = 5000;

export interface Listener {
  readonly channel: string;
  readonly received: (message: string) => void;
  /** It listens again after an interruption. */
  readonly resumed: () => void;
}

export class Subscription {
  readonly #connection: Connection;
  #timer: NodeJS.Timeout | undefined;
  #listening = false;
  #closed = false;

  constructor(source: Source, { channel, received, resumed }: Listener) {
    this.#connection = new Connection({
      pause: source.pause,
      open: async ({ signal, lost }) => {
        const broken = (cause: unknown): void => {
          lost(cause);
          if (this.#listening) this.#ping(0);
        };
        const wire = await source.open({ signal, lost: broken });
        try {
          await abortable(signal, wire.subscribe(channel, received));
        } catch (error) {
          wire.close();
          throw error;
        }
        if (this.#listening) resumed();
        return wire;
      },
    });
  }

  /** Rejects with a `StoreError`, and is closed then, if it cannot listen. */
  async start(): Promise<void> {
    try {
      await this.#connection.send(['PING']);
      this.#listening = true;
      this.#ping(PING_MS);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#connection.close();
  }

  /** After the first success, until closed. */
  #ping(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#connection.send(['PING']).then(
        () => this.#ping(PING_MS),
        () => this.#ping(0),
      );
    }, ms).unref();
  }
}
