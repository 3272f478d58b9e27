/**
 * A queue in which claims of this process wait, followed as it changes.
 *
 * One watch serves all claims of this process: a departure costs one event for each process that
 * waits there, whatever the number of its claims, and nobody asks. Invariant: a claim that is
 * admitted here is admitted, unless its own key has gone meanwhile, which the deadline of its lease
 * covers; for every change comes in order (queue-feed.ts).
 * A departure is known by its note, which is written in the same transaction; where there is none,
 * the claim was released unnoticed or its lease is dead, and the server is asked which.
 * What would break it: a note that comes in another revision than the departure.
 */

import type { Clock } from '../../base/clock.ts';
import { admissible } from '../../contract/admission.ts';
import type { Takeover } from '../../contract/store.ts';
import type { EtcdClient } from './client.ts';
import type { KeySpace } from './keys.ts';
import type { OwnClaim } from './own-claim.ts';
import { endOf, type Place, QueueView } from './queue.ts';
import { type Later, QueueFeed, type Step } from './queue-feed.ts';

export interface QueueWatchParts {
  readonly client: EtcdClient;
  readonly keys: KeySpace;
  readonly clock: Clock;
  readonly resource: string;
  /** The claims of this process in this queue, by their keys. */
  readonly own: ReadonlyMap<string, OwnClaim>;
  /** It has learnt something, or has to ask. */
  readonly wake: (own: OwnClaim, view: QueueView | undefined) => void;
}

/** What is told while it waits for its turn is of no use to anybody after so long. */
const PATIENCE_MS = 1000;

export class QueueWatch {
  readonly #parts: QueueWatchParts;
  readonly #feed: QueueFeed;
  readonly #places: ReadonlyMap<string, Place>;
  #admitted: ReadonlySet<string> = new Set();
  #ended: Takeover | undefined;
  #waitingFor = new Map<string, () => void>();

  constructor(parts: QueueWatchParts) {
    this.#parts = parts;
    this.#feed = new QueueFeed({
      ...parts,
      read: () => this.#read(),
      changed: (step) => this.#changed(step),
      lost: () => this.#stopWaiting(),
      // What fails is done again when somebody asks.
      failed: () => this.#stopWaiting(),
    });
    this.#places = this.#feed.places;
  }

  get open(): boolean {
    return this.#feed.open;
  }

  get waiters(): number {
    return this.#places.size - this.#admitted.size;
  }

  start(): void {
    this.#feed.start();
  }

  stop(): void {
    this.#feed.stop();
    this.#stopWaiting();
  }

  #stopWaiting(): void {
    for (const done of this.#waitingFor.values()) done();
  }

  /** What concerns it may have come before it was followed. */
  join(own: OwnClaim): void {
    const late = !own.held || (this.waiters > 0 && !own.crowded);
    if (late && !this.#feed.behind && this.#admitted.has(own.key)) this.#settle();
  }

  /** Until it is told here that this claim is admitted, which another answer has said before. */
  async admitted({ key }: OwnClaim): Promise<void> {
    if (!this.open || (this.#admitted.has(key) && !this.#feed.behind)) return;
    const { clock } = this.#parts;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, PATIENCE_MS);
      this.#waitingFor.set(key, () => {
        clock.clearTimeout(timer);
        resolve();
      });
    });
    this.#waitingFor.delete(key);
  }

  #read(): Later {
    for (const key of this.#parts.own.keys()) {
      const place = this.#places.get(key);
      if (!place || place.sealed) this.#tell(key, undefined);
    }
    const missed = this.#missed();
    if (missed) return this.#settleAfter(missed);
    this.#settle();
    return undefined;
  }

  /** A hold that ended between the claim of somebody who waited for it and this look. */
  #missed(): Place | undefined {
    const [first] = this.#places.values();
    const before = first && this.#parts.own.get(first.key)?.before;
    return before && !this.#places.has(before.key) ? before : undefined;
  }

  #changed({ changes, noted }: Step): Later {
    const left: Place[] = [];
    for (const { before, now } of changes) {
      if (before && !now) left.push(before);
      if (before && (!now || now.sealed)) this.#tell(before.key, undefined);
    }
    const last = left.filter(({ key }) => this.#admitted.has(key)).at(-1);
    if (last && noted?.token !== last.number) return this.#settleAfter(last);
    this.#settle(last && noted);
    return undefined;
  }

  /** A hold ended, and nothing tells how. */
  #settleAfter(last: Place): Later {
    const token = last.number;
    const settle = (reason: Takeover['reason']): void => this.#settle({ reason, token });
    if (!last.sealed) return this.#endOf(last).then((reason) => () => settle(reason));
    settle(endOf(last));
    return undefined;
  }

  /** Who cannot know has to reckon with unfinished work. */
  async #endOf({ lease }: Place): Promise<Takeover['reason']> {
    const leftMs = await this.#parts.client.timeToLive(lease).catch(() => 0);
    return leftMs > 0 ? 'released' : 'expired';
  }

  /** Tells those whom it concerns where they stand now. */
  #settle(ended?: Takeover): void {
    if (ended) this.#ended = ended;
    const view = this.#front();
    this.#admitted = new Set(view.places.slice(0, view.admitted).map(({ key }) => key));
    const news = view.waiters > 0 ? 'crowded' : 'held';
    for (const key of this.#admitted) {
      const own = this.#parts.own.get(key);
      if (own && !own.held) own.succeed(this.#ended);
      if (own?.learn(news)) this.#tell(key, view);
      this.#waitingFor.get(key)?.();
    }
    const first = view.places[view.admitted];
    if (first && this.#parts.own.get(first.key)?.learn('first')) this.#tell(first.key, view);
    if (view.admitted > 0) this.#ended = undefined;
  }

  /** The holders and the first waiter; whoever is behind is not concerned. */
  #front(): QueueView {
    const rest = admissible(this.#places.values()) + 1;
    const front: Place[] = [];
    for (const place of this.#places.values()) if (front.push(place) === rest) break;
    return new QueueView(front, this.#places.size, this.#ended);
  }

  #tell(key: string, view: QueueView | undefined): void {
    const own = this.#parts.own.get(key);
    if (own) this.#parts.wake(own, view);
  }
}
