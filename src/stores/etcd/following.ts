/**
 * A queue as somebody follows it who has no claim in it.
 *
 * Invariant: every revision that changes the queue is told, once and in order (queue-feed.ts), also
 * over interruptions, for a watch goes on from its revision. Only what the server has forgotten
 * (compacted) meanwhile is not known: then the queue is told as it is now, and that something was
 * missed. Nothing is asked for a change: what a member has left is what it has at most.
 * What would break it: to read the queue anew without saying so.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import { isLockError } from '../../base/errors.ts';
import { toStoreError } from '../../contract/errors.ts';
import type { Follower } from '../../contract/store.ts';
import type { EtcdClient } from './client.ts';
import { closedError } from './errors.ts';
import type { KeySpace } from './keys.ts';
import { queueOf } from './looking.ts';
import { QueueView } from './queue.ts';
import { QueueFeed } from './queue-feed.ts';
import { readQueue } from './reading.ts';

/** Before a look that failed is repeated, in ms. */
const PAUSE_MS = 250;

interface FollowingParts {
  readonly client: EtcdClient;
  readonly keys: KeySpace;
  readonly clock: Clock;
}

class Following {
  readonly #clock: Clock;
  readonly #resource: string;
  readonly #follower: Follower;
  readonly #feed: QueueFeed;
  readonly #first: Promise<void>;
  /** Settles the first look. */
  #begun: (error?: unknown) => void = () => {};
  #told = false;
  #missed = false;
  #pause: Timer | undefined;
  #over = false;

  constructor(
    { clock, ...parts }: FollowingParts,
    { resource, follower }: { readonly resource: string; readonly follower: Follower },
  ) {
    this.#clock = clock;
    this.#resource = resource;
    this.#follower = follower;
    this.#first = new Promise((resolve, reject) => {
      this.#begun = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.#first.catch(() => {});
    this.#feed = new QueueFeed({
      ...{ ...parts, resource },
      read: () => this.#tell(),
      changed: ({ changes }) => (changes.length > 0 ? this.#tell() : undefined),
      lost: () => {
        this.#missed = this.#told;
      },
      failed: (error) => this.#failed(error),
    });
  }

  /**
   * Resolves when the queue was told.
   * @throws StoreError
   */
  start(): Promise<void> {
    this.#feed.start();
    return this.#first;
  }

  /** Nothing is told any more. */
  end(): void {
    this.#over = true;
    this.#feed.stop();
    if (this.#pause) this.#clock.clearTimeout(this.#pause);
    this.#begun(closedError());
  }

  #tell(): undefined {
    const { places } = this.#feed;
    const view = new QueueView([...places.values()], places.size);
    const missed = this.#missed;
    this.#missed = false;
    this.#told = true;
    this.#follower.told(
      queueOf(this.#resource, view, ({ lastsMs = 0 }) => lastsMs),
      missed,
    );
    this.#begun();
  }

  #failed(error: unknown): void {
    const passes = isLockError(error, 'STORE') && toStoreError(error).retryable;
    if (this.#over) return;
    if (!this.#told) this.#begun(error);
    else if (!passes) this.#follower.failed(toStoreError(error));
    else {
      this.#missed = true;
      this.#pause = this.#clock.setTimeout(() => this.#feed.start(), PAUSE_MS);
      this.#pause.unref();
    }
  }
}

/** All who follow queues of a store. */
export class Followings {
  readonly #parts: FollowingParts;
  readonly #all = new Set<Following>();

  constructor(parts: FollowingParts) {
    this.#parts = parts;
  }

  /** @throws StoreError */
  async add(resource: string, follower: Follower): Promise<AsyncDisposable> {
    const { client, keys } = this.#parts;
    // A watch has no time-out, and says little of what is not permitted.
    await readQueue(client, keys, resource);
    const following = new Following(this.#parts, { resource, follower });
    this.#all.add(following);
    const end = (): void => {
      following.end();
      this.#all.delete(following);
    };
    await following.start().catch((error: unknown) => {
      end();
      throw error;
    });
    return { [Symbol.asyncDispose]: async () => end() };
  }

  close(): void {
    for (const following of this.#all) following.end();
  }
}
