/**
 * One verb's way to the store.
 *
 * Invariant: what is sent to one part of the store never waits for another part. Each part has a
 * track of its own, for claims, heartbeats and releases alike, and no batch crosses parts. A track
 * in which nothing is left is forgotten, so that many parts in use one after the other cost no
 * memory.
 * What would break it: to forget a track with something in it, whose ids could overtake themselves.
 */

import type { Clock } from '../base/clock.ts';
import type { Turn } from '../base/event-loop.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Claim, Store } from '../contract/store.ts';
import { partOf } from './replies.ts';
import { Track } from './track.ts';

/** Who asked; told once, with a result or an error. An object, so that asking makes no closure. */
export interface Asker<R> {
  /** False: the request need not be sent any more, and nothing is told. Default true. */
  readonly wanted?: boolean;
  settle(result: R | undefined, error: StoreError | undefined, sentAt: number): void;
}

/** What became of a request. */
export interface Answered<R> {
  readonly claims: number;
  /** None if the request as a whole failed. */
  readonly results: readonly R[];
  readonly error: StoreError | undefined;
}

export interface LaneParts<R> {
  readonly store: Store;
  readonly verb: (claims: readonly Claim[]) => Promise<readonly R[]>;
  /** Makes of each answer what can be relied upon. */
  readonly check: (answer: R) => R;
  /** Told of each request, when it was answered or failed. */
  readonly answered: ((request: Answered<R>) => void) | undefined;
  readonly clock: Clock;
  readonly turn: Turn;
}

export interface Lane<R> {
  send(claim: Claim, asker: Asker<R>): void;
}

export function openLane<R>(parts: LaneParts<R>): Lane<R> {
  return parts.store.partOf ? new PartedLane(parts) : new Track(parts);
}

class PartedLane<R> implements Lane<R> {
  readonly #parts: LaneParts<R>;
  readonly #tracks = new Map<string, Track<R>>();

  constructor(parts: LaneParts<R>) {
    this.#parts = parts;
  }

  send(claim: Claim, asker: Asker<R>): void {
    const part = partOf(this.#parts.store, claim.resource);
    let track = this.#tracks.get(part);
    if (!track) {
      track = new Track(this.#parts, () => this.#tracks.delete(part));
      this.#tracks.set(part, track);
    }
    track.send(claim, asker);
  }
}
