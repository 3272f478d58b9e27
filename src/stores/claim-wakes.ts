import type { Claim, ClaimStatus, Wake } from '../contract/store.ts';
import { Subscription } from './subscription.ts';

/** The claims of this process that want to be woken. */
export class ClaimWakes {
  readonly #byId = new Map<string, Wake>();

  subscribe({ id }: Pick<Claim, 'id'>, wake: Wake): Subscription {
    this.#byId.set(id, wake);
    return new Subscription(() => {
      if (this.#byId.get(id) === wake) this.#byId.delete(id);
    });
  }

  has({ id }: Pick<Claim, 'id'>): boolean {
    return this.#byId.has(id);
  }

  wake({ id }: Pick<Claim, 'id'>, hint?: ClaimStatus): void {
    this.#byId.get(id)?.(hint);
  }
}
