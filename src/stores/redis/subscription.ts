/**
 * Listening to one channel, for as long as the process lives. A subscription that could not begin
 * leaves nothing behind.
 *
 * A subscription is silent by nature, so a connection that is half-open, or leads to a node that is
 * gone, would go unnoticed. A PING every five seconds on the same connection detects that; it also
 * makes the next connection. Messages in between are lost, which `resumed` reports.
 */
import { abortable } from '../abortable.ts';
import { isLasting } from '../wakes.ts';
import { Connection, type Source } from './connection.ts';

const PING_MS = 5000;
/** The pause before the next try to listen, where the server has refused it for lasting reasons. */
const REFUSED_MS = 60_000;

export interface Listener {
  readonly channel: string;
  readonly received: (message: string) => void;
  /** Called when it listens again after an interruption. */
  readonly resumed: () => void;
}

class Subscription {
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

  /** If it cannot listen, rejects with a `StoreError` and is closed. */
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

  /** Runs from the first success until closed. */
  #ping(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#connection.send(['PING']).then(
        () => this.#ping(PING_MS),
        (error: unknown) => this.#ping(isLasting(error) ? REFUSED_MS : 0),
      );
    }, ms).unref();
  }
}

/** The subscriptions of one link. */
export class Subscriptions {
  readonly #all = new Set<Subscription>();

  async start(source: Source, listener: Listener): Promise<void> {
    const subscription = new Subscription(source, listener);
    this.#all.add(subscription);
    try {
      await subscription.start();
    } catch (error) {
      this.#all.delete(subscription);
      throw error;
    }
  }

  close(): void {
    for (const subscription of this.#all) subscription.close();
  }
}
