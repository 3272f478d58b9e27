/** The claims of this process that want to be woken. */
import type { Claim, ClaimStatus, Wake } from '../contract/store.ts';

export class ClaimWakes {
  readonly #byId = new Map<string, Wake>();

  subscribe({ id }: Claim, wake: Wake): AsyncDisposable {
    this.#byId.set(id, wake);
    return {
      [Symbol.asyncDispose]: async () => {
        if (this.#byId.get(id) === wake) this.#byId.delete(id);
      },
    };
  }

  has({ id }: Claim): boolean {
    return this.#byId.has(id);
  }

  wake({ id }: Claim, hint?: ClaimStatus): void {
    this.#byId.get(id)?.(hint);
  }
}
