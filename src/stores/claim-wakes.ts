import type { Claim, ClaimStatus, Wake } from '../contract/store.ts';

/** The claims of this process that want to be woken. */
export class ClaimWakes {
  readonly #byId = new Map<string, Wake>();

  subscribe({ id }: Pick<Claim, 'id'>, wake: Wake): AsyncDisposable {
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

/** A class, because an object with a computed name takes several times as long to make. */
class Subscription implements AsyncDisposable {
  readonly #end: () => void;

  constructor(end: () => void) {
    this.#end = end;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
  }
}
