import type { Clock } from '../base/clock.ts';
import type { Member, Queue } from '../contract/store.ts';
import { tokenOf } from '../contract/token.ts';
import { checkQueue } from './replies.ts';
import type { StoreCalls } from './store-calls.ts';

/** How long a failed wait asks for the holders, in ms: they are a courtesy. */
const LAST_LOOK_MS = 250;

/** Reads queues, with numbers as the tokens of leases. */
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

  /** The current holders; empty if the store does not reply soon. */
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
}

/** The same queue, with numbers as the tokens of leases. */
function scaled(queue: Queue): Queue {
  const scale = (member: Member): Member => ({ ...member, number: tokenOf(member.number) });
  return { ...queue, holders: queue.holders.map(scale), waiters: queue.waiters.map(scale) };
}
