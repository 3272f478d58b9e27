import type { Clock } from '../base/clock.ts';
import { toStoreError } from '../contract/errors.ts';
import type { Follower, Member, Queue } from '../contract/store.ts';
import { tokenOf } from '../contract/token.ts';
import { checkQueue, checkSubscription } from './replies.ts';
import type { StoreCalls } from './store-calls.ts';

/** How long a failed wait may ask who holds the resource, in ms: a reply is a courtesy. */
const LAST_LOOK_MS = 250;

/** Looks at queues, with tokens as leases have them. */
export class Looks {
  readonly #calls: StoreCalls;
  readonly #clock: Clock;
  readonly #last = new Map<string, Promise<readonly Member[]>>();

  constructor(calls: StoreCalls, clock: Clock) {
    this.#calls = calls;
    this.#clock = clock;
  }

  /**
   * Holders first, then waiters.
   * @throws StoreError
   */
  async inspect(resource: string): Promise<Queue> {
    const { store } = this.#calls;
    return scaled(await this.#calls.ask(() => store.inspect(resource), checkQueue));
  }

  /** Who holds the resource now; empty if the store does not say so soon. */
  holders(resource: string): Promise<readonly Member[]> {
    const known = this.#last.get(resource);
    if (known) return known;
    const look = new Promise<readonly Member[]>((resolve) => {
      const timer = this.#clock.setTimeout(() => resolve([]), LAST_LOOK_MS);
      this.inspect(resource)
        .then(
          (queue) => resolve(queue.holders),
          () => resolve([]),
        )
        .finally(() => this.#clock.clearTimeout(timer));
    }).finally(() => this.#last.delete(resource));
    this.#last.set(resource, look);
    return look;
  }

  /**
   * Tells the queue as `inspect` does, now and as it changes; undefined if the store cannot.
   * @throws StoreError
   */
  async follow(resource: string, follower: Follower): Promise<AsyncDisposable | undefined> {
    const { store } = this.#calls;
    if (!store.follow) return undefined;
    const follow = store.follow.bind(store, resource, checked(follower));
    let following: Promise<AsyncDisposable> | undefined;
    const ask = (): Promise<AsyncDisposable> => {
      following = Promise.resolve(follow());
      return following;
    };
    try {
      return await this.#calls.ask(ask, checkSubscription);
    } catch (error) {
      // What comes too late is of no use to anybody.
      following?.then((late) => checkSubscription(late)[Symbol.asyncDispose]()).catch(() => {});
      throw error;
    }
  }
}

/** With tokens as leases have them. */
function scaled(queue: Queue): Queue {
  const scale = (member: Member): Member => ({ ...member, number: tokenOf(member.number) });
  return { ...queue, holders: queue.holders.map(scale), waiters: queue.waiters.map(scale) };
}

/** Drops a malformed queue and marks the next one as `missed`. */
function checked(follower: Follower): Follower {
  let lost = false;
  return {
    told(queue, missed) {
      try {
        checkQueue(queue);
      } catch {
        lost = true;
        return;
      }
      follower.told(scaled(queue), missed === true || lost);
      lost = false;
    },
    failed: (error) => follower.failed(toStoreError(error)),
  };
}
