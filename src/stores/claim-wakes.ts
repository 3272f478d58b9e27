/** The claims of this process that want to be woken. */
import type { Claim, ClaimStatus, Wake } from '../contract/store.ts';

export class ClaimWakes {
  readonly #byId = new Map<string, Wake>();

  subscribe({ id }: Pick<Claim, 'id'>, wake: Wake): AsyncDisposable {
    this.#byId.set(id, wake);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#byId.get(id) === wake) this.#byId.delete(id);
      },
    };
  }

  has({ id }: Pick<Claim, 'id'>): boolean {
    return this.#byId.has(id);
  }

  wake({ id }: Pick<Claim, 'id'>, hint?: ClaimStatus): void {
    this.#byId.get(id)?.(hint);
  }
}
