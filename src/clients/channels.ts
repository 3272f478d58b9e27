/**
 * Many channels on one connection, each listened to while a caller wants its messages.
 *
 * Invariant: a message after `follow` has resolved arrives, or followers are woken without one once
 * the connection is back. A new wire listens to all channels that are followed before it counts as
 * open; a channel that comes while it opens is listened to once more, which does no harm.
 * What would break it: leaving a channel that a caller has just begun to follow. So a channel is
 * left only after a while without followers.
 */
import { KeptConnection } from './kept-connection.ts';
import type { Source, Wire } from './wire.ts';

/** How long a channel is listened to after its last follower, in ms. */
const LINGER_MS = 10_000;

interface FollowedChannel {
  readonly followers: Set<(message?: string) => void>;
  ready: Promise<unknown>;
  leaving?: NodeJS.Timeout | undefined;
}

export class Channels {
  readonly #connection: KeptConnection<Wire>;
  readonly #idle: () => void;
  readonly #channels = new Map<string, FollowedChannel>();

  /** Opens a connection with the first channel; calls `idle` when the last one was left. */
  constructor(source: Source<Wire>, idle: () => void = () => {}) {
    // In a cluster a slot has one of its own.
    this.#connection = new KeptConnection({ ...source, place: undefined });
    this.#idle = idle;
  }

  /** Calls `wake` with each message, and without one after an interruption. @throws StoreError */
  async follow(name: string, wake: (message?: string) => void): Promise<AsyncDisposable> {
    const channel = this.#channels.get(name) ?? this.#listen(name);
    clearTimeout(channel.leaving);
    // Two may have the same function.
    const follower = (message?: string): void => wake(message);
    channel.followers.add(follower);
    const end = async (): Promise<void> => {
      channel.followers.delete(follower);
      if (channel.followers.size === 0) this.#leave(name, channel);
    };
    try {
      await channel.ready;
    } catch (error) {
      await end();
      throw error;
    }
    return { [Symbol.asyncDispose]: end };
  }

  /** Its server has changed: the next wire, from the same source, listens to all channels. */
  move(): void {
    this.#connection.move();
  }

  close(): void {
    for (const { leaving } of this.#channels.values()) clearTimeout(leaving);
    this.#channels.clear();
    this.#connection.close();
  }

  #listen(name: string): FollowedChannel {
    const received = (message?: string): void => {
      for (const follower of [...channel.followers]) follower(message);
    };
    const ready = this.#connection.listen({ channel: name, received, resumed: received });
    const channel: FollowedChannel = { followers: new Set(), ready };
    this.#channels.set(name, channel);
    ready.catch(() => {
      if (this.#channels.get(name) === channel) this.#channels.delete(name);
      // The next try may be made elsewhere; a wire that is on its way has not been tried.
      if (this.#connection.wire && this.#channels.size === 0) this.#connection.move();
    });
    return channel;
  }

  #leave(name: string, channel: FollowedChannel): void {
    clearTimeout(channel.leaving);
    channel.leaving = setTimeout(() => {
      if (this.#channels.get(name) === channel) {
        this.#channels.delete(name);
        this.#connection.unlisten(name).catch(() => {});
      }
      if (this.#channels.size === 0) this.#idle();
    }, LINGER_MS).unref();
  }
}
