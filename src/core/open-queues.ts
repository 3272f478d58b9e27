import type { Underway } from '../store-calls/underway.ts';
import type { Spec } from './spec.ts';

/** The queues of one `Locks` that have a claim or a waiter. */
export class OpenQueues<Q extends { readonly spec: Spec }> {
  /** One that tasks share by its key, others by themselves. */
  readonly #queues = new Map<string | Q, Q>();
  readonly #underway: Underway;

  constructor(underway: Underway) {
    this.#underway = underway;
  }

  get all(): readonly Q[] {
    return [...this.#queues.values()];
  }

  /** The queue in which the tasks of this process share one claim, if it is open. */
  shared({ shared, key }: Spec): Q | undefined {
    return shared ? this.#queues.get(key) : undefined;
  }

  add(queue: Q): void {
    const key = keyOf(queue);
    if (this.#queues.has(key)) return;
    this.#queues.set(key, queue);
    this.#underway.begin();
  }

  remove(queue: Q): void {
    const key = keyOf(queue);
    if (this.#queues.get(key) !== queue) return;
    this.#queues.delete(key);
    this.#underway.end();
  }
}

function keyOf<Q extends { readonly spec: Spec }>(queue: Q): string | Q {
  return queue.spec.shared ? queue.spec.key : queue;
}
