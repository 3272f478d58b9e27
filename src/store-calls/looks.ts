import type { Member, Queue } from '../contract/store.ts';
import { tokenOf } from '../contract/token.ts';
import { checkQueue } from './replies.ts';
import type { StoreCalls } from './store-calls.ts';
import { TRIES_PER_TTL } from './time-limit.ts';

/** How long a failed wait asks who holds, in ms: the answer is a courtesy. */
const LAST_LOOK_MS = 250;

/** Reads queues, with numbers as the tokens of leases. */
export class Looks {
  readonly #calls: StoreCalls;
  readonly #last = new Map<string, Promise<Queue | undefined>>();

  constructor(calls: StoreCalls) {
    this.#calls = calls;
  }

  /**
   * Holders first, then waiters.
   * @throws StoreError
   */
  inspect(resource: string, about?: { readonly ttlMs: number }): Promise<Queue> {
    const { store } = this.#calls;
    return this.#calls.ask(() => store.inspect(resource), checkQueue, about).then(scaled);
  }

  /** As `inspect`; undefined if the store does not reply soon. */
  soon(resource: string): Promise<Queue | undefined> {
    let look = this.#last.get(resource);
    if (!look) {
      look = this.inspect(resource, { ttlMs: LAST_LOOK_MS * TRIES_PER_TTL })
        .catch(() => undefined)
        .finally(() => this.#last.delete(resource));
      this.#last.set(resource, look);
    }
    return look;
  }
}

/** The same queue, with numbers as the tokens of leases. */
function scaled(queue: Queue): Queue {
  const scale = (member: Member): Member => ({ ...member, number: tokenOf(member.number) });
  return { ...queue, holders: queue.holders.map(scale), waiters: queue.waiters.map(scale) };
}
