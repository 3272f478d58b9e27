/**
 * A queue in which claims of this process wait, followed as it changes.
 *
 * One watch serves all claims of this process: a departure costs one event for each process that
 * waits there, whatever the number of its claims, and nobody asks. Invariant: what is known is the
 * queue at one revision, and every change after it comes in order, whole revisions at a time. It
 * holds because the watch is there before the queue is read, and what was read is newer than what
 * is left out. So a claim that is admitted here is admitted, unless its own key has gone meanwhile,
 * which the deadline of its lease covers.
 * A departure is known by its note, which is written in the same transaction; where there is none,
 * the claim was released unnoticed or its lease is dead, and the server is asked which.
 * What would break it: changes of one revision that come in parts, or a watch that skips some.
 */
import { admissible } from '../../admission.ts';
import type { Clock } from '../../clock.ts';
import type { Takeover } from '../../store.ts';
import type { Change, EtcdClient } from './client.ts';
import type { KeySpace } from './keys.ts';
import type { OwnClaim } from './own-claim.ts';
import { endOf, type Place, placeOf, QueueView, takeoverIn } from './queue.ts';

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

interface Batch {
  readonly changes: readonly Change[];
  readonly revision: bigint;
}

/** What is told while it waits for its turn is of no use to anybody after so long. */
const PATIENCE_MS = 1000;

export class QueueWatch {
  readonly #parts: QueueWatchParts;
  readonly #noteKey: string;
  #watcher: Disposable | undefined;
  /** In order, for a key that is written again keeps its place. */
  readonly #places = new Map<string, Place>();
  #admitted: ReadonlySet<string> = new Set();
  #ended: Takeover | undefined;
  /** Changes that came before the queue was read, or while the server is asked about one. */
  #pending: Batch[] | undefined;
  #readAt = 0n;
  #waitingFor = new Map<string, () => void>();

  constructor(parts: QueueWatchParts) {
    this.#parts = parts;
    this.#noteKey = parts.keys.note(parts.resource);
  }

  get open(): boolean {
    return this.#watcher !== undefined;
  }

  get waiters(): number {
    return this.#places.size - this.#admitted.size;
  }

  /** Never rejects: what fails is done again when somebody asks. */
  start(): void {
    if (this.#watcher) return;
    const { client, keys, resource } = this.#parts;
    this.#pending = [];
    const watcher = client.watch({
      ...keys.queue(resource),
      started: () => void this.#read(watcher),
      changed: (changes, revision) => this.#changed({ changes, revision }),
      lost: () => this.#restart(watcher),
    });
    this.#watcher = watcher;
  }

  stop(): void {
    this.#watcher?.[Symbol.dispose]();
    this.#watcher = undefined;
    for (const done of this.#waitingFor.values()) done();
  }

  /** What concerns it may have come before it was followed. */
  join(own: OwnClaim): void {
    const late = !own.held || (this.waiters > 0 && !own.crowded);
    if (late && !this.#pending && this.#admitted.has(own.key)) this.#settle();
  }

  /** Until it is told here that this claim is admitted, which another answer has said before. */
  async admitted({ key }: OwnClaim): Promise<void> {
    if (!this.#watcher || (this.#admitted.has(key) && !this.#pending)) return;
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

  #restart(watcher: Disposable): void {
    if (this.#watcher !== watcher) return;
    this.stop();
    this.start();
  }

  async #read(watcher: Disposable): Promise<void> {
    const { client, keys, resource } = this.#parts;
    try {
      const range = { ...keys.queue(resource), oldestFirst: true };
      const reply = await client.txn({ success: [{ range }] });
      if (this.#watcher !== watcher) return;
      const answer = reply.answers[0];
      const kvs = answer && 'range' in answer ? answer.range.kvs : [];
      this.#places.clear();
      for (const kv of kvs) this.#put(placeOf(kv));
      this.#readAt = reply.revision;
      for (const key of this.#parts.own.keys()) {
        const place = this.#places.get(key);
        if (!place || place.sealed) this.#tell(key, undefined);
      }
      const missed = this.#missed();
      if (missed) return await this.#settleAfter(missed);
      this.#settle();
      this.#catchUp();
    } catch {
      if (this.#watcher === watcher) this.stop();
    }
  }

  /** A hold that ended between the claim of somebody who waited for it and this look. */
  #missed(): Place | undefined {
    const [first] = this.#places.values();
    const before = first && this.#parts.own.get(first.key)?.before;
    return before && !this.#places.has(before.key) ? before : undefined;
  }

  #put(place: Place): void {
    const { keys, resource } = this.#parts;
    if (keys.isClaim(resource, place.key)) this.#places.set(place.key, place);
  }

  /** What has come meanwhile, and is newer than what is known. */
  #catchUp(): void {
    const pending = this.#pending ?? [];
    this.#pending = undefined;
    for (const batch of pending) if (batch.revision > this.#readAt) this.#changed(batch);
  }

  #changed(batch: Batch): void {
    if (this.#pending) {
      this.#pending.push(batch);
      return;
    }
    const left: Place[] = [];
    let noted: Takeover | undefined;
    for (const { deleted, kv } of batch.changes) {
      const place = this.#places.get(kv.key);
      if (kv.key === this.#noteKey) noted = deleted ? undefined : takeoverIn(kv.value);
      else if (!deleted) this.#put(placeOf(kv));
      else if (place) {
        this.#places.delete(kv.key);
        left.push(place);
      }
      if (place && (deleted || placeOf(kv).sealed)) this.#tell(place.key, undefined);
    }
    const last = left.filter(({ key }) => this.#admitted.has(key)).at(-1);
    if (!last) this.#settle();
    else if (noted?.token === last.number) this.#settle(noted);
    else void this.#settleAfter(last);
  }

  /** A hold ended, and nothing tells how. */
  async #settleAfter(last: Place): Promise<void> {
    const token = last.number;
    this.#pending ??= [];
    const watcher = this.#watcher;
    const reason = last.sealed ? endOf(last) : await this.#endOf(last);
    if (this.#watcher !== watcher) return;
    this.#settle({ reason, token });
    this.#catchUp();
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
