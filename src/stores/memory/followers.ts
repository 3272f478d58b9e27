/** Who follows a queue, and is told of each step that changes it. */
import type { Clock, Timer } from '../../base/clock.ts';
import type { Follower, Queue } from '../../contract/store.ts';

interface Followed {
  readonly followers: Set<Follower>;
  last: string;
  timer: Timer | undefined;
}

export class Followers {
  readonly #clock: Clock;
  /** Settles the queue first. */
  readonly #look: (resource: string) => Queue;
  readonly #followed = new Map<string, Followed>();

  constructor(clock: Clock, look: (resource: string) => Queue) {
    this.#clock = clock;
    this.#look = look;
  }

  /** Every queue that somebody follows. */
  get resources(): Iterable<string> {
    return [...this.#followed.keys()];
  }

  add(resource: string, follower: Follower): AsyncDisposable {
    const queue = this.#look(resource);
    const followed = this.#followed.get(resource) ?? {
      ...{ followers: new Set(), last: describe(queue), timer: undefined },
    };
    this.#followed.set(resource, followed);
    followed.followers.add(follower);
    this.#watch(followed, queue);
    follower.told(queue, false);
    return { [Symbol.asyncDispose]: async () => this.#remove(resource, follower) };
  }

  /** At the end of a step. Nobody is called in the middle of one. */
  tell(resource: string, look: () => Queue): void {
    const followed = this.#followed.get(resource);
    if (!followed) return;
    const queue = look();
    this.#watch(followed, queue);
    const now = describe(queue);
    if (now === followed.last) return;
    followed.last = now;
    for (const follower of followed.followers) {
      queueMicrotask(() => {
        if (followed.followers.has(follower)) follower.told(queue, false);
      });
    }
  }

  /** Who dies is told without anybody asking. */
  #watch(followed: Followed, { resource, holders, waiters }: Queue): void {
    const lives = [...holders, ...waiters].map(({ leftMs }) => leftMs);
    if (followed.timer) this.#clock.clearTimeout(followed.timer);
    followed.timer = undefined;
    if (lives.length === 0) return;
    followed.timer = this.#clock.setTimeout(() => void this.#look(resource), Math.min(...lives));
    followed.timer.unref();
  }

  #remove(resource: string, follower: Follower): void {
    const followed = this.#followed.get(resource);
    if (!followed?.followers.delete(follower) || followed.followers.size > 0) return;
    if (followed.timer) this.#clock.clearTimeout(followed.timer);
    this.#followed.delete(resource);
  }
}

function describe({ holders, waiters }: Queue): string {
  const text = (all: Queue['holders']): string =>
    all.map(({ number, kind }) => `${kind} ${number}`).join();
  return `${text(holders)}|${text(waiters)}`;
}
