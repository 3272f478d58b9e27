/**
 * A queue in which claims of this process wait, watched as it changes.
 *
 * One watch serves all claims of this process: a departure costs one event for each process that
 * waits there, whatever the number of its claims, and no request. Invariant: the view is the queue
 * at one revision, and every change after it comes in order, whole revisions at a time, each once.
 * It holds because the watch is there before the queue is read, the read is newer than any change
 * left out, and a watch goes on from the revision where it was interrupted; if the server has
 * forgotten changes since, the queue is read anew. So a claim that is admitted here is admitted,
 * unless its own key has gone meanwhile, which the deadline of its lease covers.
 * A departure is known by its note, which is written in the same transaction; without one, the
 * claim was released unnoticed or its lease is dead, and the server is asked which. All changes
 * that follow wait for that reply.
 * What would break it: changes of one revision that come in parts, a watch that skips some, or a
 * note that comes in another revision than the departure.
 */
import type { Timer } from '../../base/clock.ts';
import { afterInput } from '../../base/event-loop.ts';
import type { EtcdReply, KeyChange } from '../../clients/etcd/client.ts';
import { admissible } from '../../contract/admission.ts';
import { endingOf } from '../../contract/gone.ts';
import type { Takeover } from '../../contract/store.ts';
import type { EtcdContext } from './layout.ts';
import type { EtcdClaim } from './own-claim.ts';
import { type EtcdPlace, type EtcdView, placeOf, takeoverIn } from './places.ts';
import { rangeIn, reading, viewOf } from './reading.ts';

export interface QueueWatchParts extends EtcdContext {
  readonly resource: string;
  /** Wakes it: with its status, if that has changed, or to ask. */
  readonly wake: (own: EtcdClaim, changed: boolean) => void;
}

interface WatchedChanges {
  readonly changes: readonly KeyChange[];
  readonly revision: bigint;
}

/** A status that waits longer for this watch is of no use. */
const PATIENCE_MS = 1000;
/** A claim that waits longer for this watch reads the queue. */
const WATCH_MS = 100;

/** Something that a reply has said of a claim. */
interface Awaited {
  readonly known: () => boolean;
  readonly done: () => void;
}

export class QueueWatch {
  /** Those of this process, by their keys. */
  readonly claims: Map<string, EtcdClaim> = new Map();
  /** Ends it a while after its last claim has left. */
  timer: Timer | undefined;
  readonly #parts: QueueWatchParts;
  #watcher: Disposable | undefined;
  /** In order: a key that is written again keeps its place. */
  readonly #places = new Map<string, EtcdPlace>();
  #readAt = 0n;
  /** Steps that came before the queue was read, or while the server is asked about one. */
  #pending: WatchedChanges[] | undefined;
  #admitted: ReadonlySet<string> = new Set();
  #ended: Takeover | undefined;
  /** It has missed what a reply has shown; until its next change. */
  #late = false;
  readonly #waitingFor = new Set<Awaited>();

  constructor(parts: QueueWatchParts) {
    this.#parts = parts;
  }

  get open(): boolean {
    return this.#watcher !== undefined;
  }

  /** The holders and the first waiter; undefined while they are not known for sure. */
  get view(): EtcdView | undefined {
    return this.#watcher && !this.#pending && !this.#late ? this.#front() : undefined;
  }

  get waiters(): number {
    return this.#places.size - this.#admitted.size;
  }

  /** A failure is repaired by the next call. */
  start(): void {
    if (this.#watcher) return;
    const { client, keys, resource } = this.#parts;
    this.#pending = [];
    const watcher = client.watch({
      ...keys.queue(resource),
      started: () => void this.#look(watcher, (reply) => this.#read(reply)),
      changed: (changes, revision) => this.#take({ changes, revision }),
      lost: () => this.#restart(watcher),
    });
    this.#watcher = watcher;
  }

  stop(): void {
    this.#watcher?.[Symbol.dispose]();
    this.#watcher = undefined;
    this.#stopWaiting();
  }

  /** Its wake may have come before it was followed. */
  join(own: EtcdClaim): void {
    const late = !own.held || (this.waiters > 0 && !own.crowded);
    if (late && !this.#pending && this.#admitted.has(own.key)) this.#settle();
  }

  /** Waits until this watch, too, has seen that the claim is admitted, as a reply has said. */
  admitted({ key }: EtcdClaim): Promise<void> {
    return this.#wait(PATIENCE_MS, () => this.#admitted.has(key));
  }

  /** The view that has this key, which a reply has shown; undefined if it is late. */
  async viewWith(key: string): Promise<EtcdView | undefined> {
    const known = (): boolean => this.#places.has(key);
    await this.#wait(WATCH_MS, known);
    this.#late ||= !known();
    return known() ? this.view : undefined;
  }

  async #wait(ms: number, known: () => boolean): Promise<void> {
    if (!this.#watcher || (known() && !this.#pending)) return;
    const { clock } = this.#parts;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clock.clearTimeout(timer);
        this.#waitingFor.delete(awaited);
        resolve();
      };
      const awaited = { known, done };
      const timer = clock.setTimeout(() => afterInput(done, clock), ms);
      this.#waitingFor.add(awaited);
    });
  }

  #stopWaiting(): void {
    for (const { done } of this.#waitingFor) done();
  }

  /** Reads first: that fails if watching is not permitted any more. */
  #restart(watcher: Disposable): void {
    if (this.#watcher !== watcher) return;
    this.#pending = [];
    this.#stopWaiting();
    void this.#look(watcher, async () => {
      this.stop();
      this.start();
    });
  }

  /** Never rejects: reads the queue, and calls `act` unless stopped meanwhile. */
  async #look(watcher: Disposable, act: (reply: EtcdReply) => Promise<void>): Promise<void> {
    const { client, keys, resource } = this.#parts;
    try {
      const reply = await client.txn({ success: [reading(keys, resource)] });
      if (this.#watcher === watcher) await act(reply);
    } catch {
      if (this.#watcher === watcher) this.stop();
    }
  }

  async #read({ answers, revision }: EtcdReply): Promise<void> {
    const { keys, resource } = this.#parts;
    const old = [...this.#places.values()];
    this.#places.clear();
    for (const kv of rangeIn(answers[0])?.kvs ?? []) {
      if (keys.isClaim(resource, kv.key)) this.#places.set(kv.key, placeOf(kv));
    }
    this.#readAt = revision;
    for (const key of this.claims.keys()) {
      const place = this.#places.get(key);
      if (!place || place.sealed) this.#wake(key, false);
    }
    const missed = this.#missed(old);
    if (missed) return this.#settleAfter(missed);
    this.#settle();
    this.#catchUp();
  }

  /** A hold that ended between a waiter's claim, or the last picture, and this read. */
  #missed(old: readonly EtcdPlace[]): EtcdPlace | undefined {
    const [first] = this.#places.values();
    const own = first && this.claims.get(first.id);
    const before = own && (old[old.findIndex(({ id }) => id === own.key) - 1] ?? own.before);
    return before && !this.#places.has(before.id) ? before : undefined;
  }

  #take(step: WatchedChanges): void {
    if (this.#pending) {
      this.#pending.push(step);
      return;
    }
    const { keys, resource } = this.#parts;
    let last: EtcdPlace | undefined;
    let noted: Takeover | undefined;
    for (const { deleted, kv } of step.changes) {
      if (kv.key === keys.note(resource)) noted = deleted ? undefined : takeoverIn(kv.value);
      if (!keys.isClaim(resource, kv.key)) continue;
      const before = this.#places.get(kv.key);
      const now = deleted ? undefined : placeOf(kv);
      if (now) this.#places.set(kv.key, now);
      else this.#places.delete(kv.key);
      if (!now && this.#admitted.has(kv.key)) last = before ?? last;
      if (before && (!now || now.sealed)) this.#wake(kv.key, false);
    }
    if (last && noted?.token !== last.number) void this.#settleAfter(last);
    else this.#settle(last && noted);
  }

  /** Takes the pending steps that are newer than the read. */
  #catchUp(): void {
    const pending = this.#pending ?? [];
    this.#pending = undefined;
    for (const step of pending) if (step.revision > this.#readAt) this.#take(step);
  }

  /** A hold ended without a note. */
  async #settleAfter(last: EtcdPlace): Promise<void> {
    this.#pending ??= [];
    const watcher = this.#watcher;
    const reason = await this.#endOf(last);
    if (this.#watcher !== watcher) return;
    this.#settle({ reason, token: last.number });
    this.#catchUp();
  }

  /** If the reply is missing, assumes unfinished work. */
  async #endOf({ lease, sealed }: EtcdPlace): Promise<Takeover['reason']> {
    if (sealed) return endingOf(sealed);
    const leftMs = await this.#parts.client.timeToLive(lease).catch(() => 0);
    return leftMs > 0 ? 'released' : 'expired';
  }

  /** Notifies the claims whose place has changed. */
  #settle(ended?: Takeover): void {
    if (ended) this.#ended = ended;
    this.#late = false;
    const view = this.#front();
    this.#admitted = new Set(view.places.slice(0, view.admitted).map(({ id }) => id));
    for (const key of this.#admitted) {
      const own = this.claims.get(key);
      if (own && !own.held) own.succeed(this.#ended);
      if (own?.see(view)) this.#wake(key, true);
    }
    for (const { known, done } of this.#waitingFor) if (known()) done();
    const first = view.places[view.admitted];
    if (first && this.claims.get(first.id)?.see(view)) this.#wake(first.id, true);
    if (view.admitted > 0) this.#ended = undefined;
  }

  /** The holders and the first waiter; the others are not concerned. */
  #front(): EtcdView {
    const rest = admissible(this.#places.values()) + 1;
    const front: EtcdPlace[] = [];
    for (const place of this.#places.values()) if (front.push(place) === rest) break;
    return viewOf(front, this.#places.size, this.#ended);
  }

  #wake(key: string, changed: boolean): void {
    const own = this.claims.get(key);
    if (own) this.#parts.wake(own, changed);
  }
}
