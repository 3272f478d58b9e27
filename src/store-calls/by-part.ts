/**
 * One batcher for each part of the store.
 *
 * Invariant: a request to one part of the store never waits for another part. Each part has a
 * batcher of its own for each verb, and no batch crosses parts. An empty batcher is forgotten, so
 * that parts used one after the other cost no memory.
 * What would break it: to forget a batcher that is not empty: requests of one id could overtake
 * each other.
 */
import type { Claim } from '../contract/store.ts';
import { Batcher, type BatcherParts, type Caller, type Sender } from './batcher.ts';
import { partOf } from './replies.ts';

export function senderOf<R>(parts: BatcherParts<R>): Sender<R> {
  return parts.store.partOf ? new ByPart(parts) : new Batcher(parts);
}

class ByPart<R> implements Sender<R> {
  readonly #parts: BatcherParts<R>;
  readonly #batchers = new Map<string, Batcher<R>>();

  constructor(parts: BatcherParts<R>) {
    this.#parts = parts;
  }

  send(claim: Claim, caller: Caller<R>): void {
    const part = partOf(this.#parts.store, claim.resource);
    let batcher = this.#batchers.get(part);
    if (!batcher) {
      batcher = new Batcher(this.#parts, () => this.#batchers.delete(part));
      this.#batchers.set(part, batcher);
    }
    batcher.send(claim, caller);
  }
}
