/**
 * The claims of `tryAllOf`, as one request.
 *
 * Invariant: the store is asked once, for all of them, and it grants all or none. Each lock makes
 * its claim as for any other try and sends it here; the request leaves with the last of them. If
 * one does not come, because its caller has given up, the others are refused unsent. So is one that
 * comes again, because its grant came too late to be used.
 * A failure reaches each claim as its own status: a batch that failed as a whole would be halved.
 * What would break it: a request for some of them.
 */
import { toStoreError, UnsupportedError } from '../contract/errors.ts';
import { REFUSED } from '../contract/gone.ts';
import type { Claim, ClaimStatus } from '../contract/store.ts';
import { Batcher, type Caller, type Sender } from './batcher.ts';
import { checkStatus, partOf } from './replies.ts';
import type { StoreCalls } from './store-calls.ts';

export class Together implements Sender<ClaimStatus> {
  readonly #count: number;
  readonly #batcher: Batcher<ClaimStatus>;
  readonly #waiting: { readonly claim: Claim; readonly caller: Caller<ClaimStatus> }[] = [];
  #over = false;

  /**
   * For one claim on each of these.
   * @throws UnsupportedError unless the store can take them in one step.
   */
  constructor({ parts }: StoreCalls, resources: readonly string[]) {
    const { store } = parts;
    const claimAll = store.claimAll?.bind(store);
    const unable = `The ${store.name} store cannot take these locks in one step`;
    if (!claimAll) throw new UnsupportedError('claimAll', `${unable}; allOf() takes each in turn.`);
    if (new Set(resources.map((resource) => partOf(store, resource))).size > 1) {
      const remedy = "Give their names one hash tag, such as '{order:7}', or use allOf()";
      const why = `they are in several slots of the cluster. ${remedy}`;
      throw new UnsupportedError('claimAll', `${unable}: ${why}.`);
    }
    const count = resources.length;
    const verb = async (claims: readonly Claim[]): Promise<readonly ClaimStatus[]> => {
      if (claims.length < count) return claims.map(() => REFUSED);
      try {
        return await claimAll(claims);
      } catch (error) {
        return claims.map(() => ({ state: 'error', error: toStoreError(error) }));
      }
    };
    this.#count = count;
    this.#batcher = new Batcher({ ...parts, verb, check: checkStatus });
  }

  send(claim: Claim, caller: Caller<ClaimStatus>): void {
    this.#waiting.push({ claim, caller });
    if (this.#over || this.#waiting.length === this.#count) this.end();
  }

  /** No more are to come. */
  end(): void {
    this.#over = true;
    for (const { claim, caller } of this.#waiting.splice(0)) this.#batcher.send(claim, caller);
  }
}
