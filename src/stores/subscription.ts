/** How the claims of this process ask to be woken, and stop. */
import { DONE } from '../base/answer.ts';
import type { Claim, ClaimStatus, Wake } from '../contract/store.ts';

/** A class, because one is made for each claim, and a literal with a symbol is slow to make. */
export class Subscription implements Disposable, AsyncDisposable {
  readonly #end: () => void;

  constructor(end: () => void) {
    this.#end = end;
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    return DONE;
  }
}

/** To nothing. */
export const NONE: Subscription = new Subscription(() => {});

/** Sets an entry of the map; its end deletes it, unless another has taken its place. */
export function entered<K, V>(map: Map<K, V>, key: K, value: NoInfer<V>): Subscription {
  map.set(key, value);
  return new Subscription(() => {
    if (map.get(key) === value) map.delete(key);
  });
}

/** Claims to be woken by what this process itself sees; for messages of a server see wakes.ts. */
export class ClaimWakes {
  readonly #byId = new Map<string, Wake>();

  subscribe({ id }: Pick<Claim, 'id'>, wake: Wake): Subscription {
    return entered(this.#byId, id, wake);
  }

  has({ id }: Pick<Claim, 'id'>): boolean {
    return this.#byId.has(id);
  }

  wake({ id }: Pick<Claim, 'id'>, hint?: ClaimStatus): void {
    this.#byId.get(id)?.(hint);
  }
}
