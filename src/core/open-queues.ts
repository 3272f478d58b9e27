import type { Underway } from '../store-calls/release.ts';
import type { Spec } from './services.ts';

/** The queues of one `Locks` that have a claim or a waiter. */
export class OpenQueues<Q extends { readonly spec: Spec }> {
  /** One that tasks share by its key, others by themselves. */
  readonly #queues = new Map<unknown, Q>();
  readonly #underway: Underway;

  constructor(underway: Underway) {
    this.#underway = underway;
  }

  get all(): readonly Q[] {
    return [...this.#queues.values()];
  }

  /** The queue in which the tasks of this process share one claim, if it is open. */
  get(key: string | undefined): Q | undefined {
    return this.#queues.get(key);
  }

  add(queue: Q): void {
    const key = queue.spec.key ?? queue;
    if (this.#queues.has(key)) return;
    this.#queues.set(key, queue);
    this.#underway.begin();
  }

  remove(queue: Q): void {
    const key = queue.spec.key ?? queue;
    if (this.#queues.get(key) !== queue) return;
    this.#queues.delete(key);
    this.#underway.end();
  }
}
