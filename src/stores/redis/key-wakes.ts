/**
 * The claims of this process that wait for keys whose releases other programs publish: to a channel
 * of the key, with the key as the message. One subscription to all such channels serves them. A
 * message is a hint and may be lost, so claims that wait try again besides.
 */
import type { Ear } from '../../clients/wire.ts';
import type { Wake } from '../../contract/store.ts';
import { escapeGlob } from './places.ts';

/** The pause before the next try to listen, in ms. */
const PAUSE_MS = 1000;

export class KeyWakes {
  readonly #ear: Ear;
  readonly #pattern: string;
  readonly #wakes = new Map<string, Set<Wake>>();
  #listening: Promise<void> | undefined;
  #restUntil = 0;

  /** @param prefix of the names of channels. */
  constructor(ear: Ear, prefix: string) {
    this.#ear = ear;
    this.#pattern = `${escapeGlob(prefix)}*`;
  }

  /** Resolves when no message can be missed, or when listening is impossible for now. */
  async watch(key: string, wake: Wake): Promise<AsyncDisposable> {
    // The same listener may watch twice.
    const own: Wake = (hint) => wake(hint);
    const wakes = this.#wakes.get(key) ?? new Set();
    this.#wakes.set(key, wakes.add(own));
    await this.#listen();
    return {
      [Symbol.asyncDispose]: async () => {
        wakes.delete(own);
        if (wakes.size === 0 && this.#wakes.get(key) === wakes) this.#wakes.delete(key);
      },
    };
  }

  async #listen(): Promise<void> {
    if (performance.now() < this.#restUntil) return;
    this.#listening ??= this.#ear.listen(this.#pattern, this.#received, this.#resumed).catch(() => {
      this.#listening = undefined;
      this.#restUntil = performance.now() + PAUSE_MS;
    });
    await this.#listening;
  }

  readonly #received = (key: string): void => {
    for (const wake of this.#wakes.get(key) ?? []) wake();
  };

  readonly #resumed = (): void => {
    for (const wakes of [...this.#wakes.values()]) for (const wake of wakes) wake();
  };
}
