/**
 * Deadlocks between tasks, whichever processes they are in.
 *
 * A task that has waited for a second and holds locks publishes its wait (notes.ts) and looks along
 * the chain: at the waits of those who hold what it waits for, and so on (graph.ts). A task that
 * finds itself in a knot confirms it: it publishes the knot's key. When all in it have confirmed,
 * each emits `deadlock` and says so, and then the youngest of those that may reject ends its wait.
 *
 * Invariant: a knot that all have confirmed was a deadlock, at the moment M of the first
 * confirmation. Each confirmed after it had read the waits of all, so all waits had begun by M; and
 * each said so itself, while it waited and its leases were held, at M or later. So at M all of them
 * waited and held, whatever is late, stalled or dead by now. It is the same knot for all of them: a
 * wait has one id for its whole life, and only fewer holds as it lasts. Of a knot there is one
 * victim, because all choose by what is published, and a wait is ended by its own process alone.
 * What breaks it: work that releases or downgrades a lock although a wait that it started goes on.
 * Such a wait belongs in `holding([], …)`. And a hold that is evicted at once counts until its
 * holder knows.
 */
import { onAbort } from '../../base/aborts.ts';
import { OneTimer } from '../../base/clock.ts';
import { type Duration, positive } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { detached } from '../../base/event-loop.ts';
import { checkOptions, oneOf } from '../../base/options.ts';
import type { Engine } from '../../core/engine.ts';
import { DeadlockError } from '../../core/errors.ts';
import type { Acquisition, LockEvents } from '../../core/events.ts';
import type { Services } from '../../core/services.ts';
import { engineOf, type Locks } from '../../locks.ts';
import { knotOf, stuckOf, victimOf } from './graph.ts';
import { heldAround } from './holding.ts';
import { detailOf, isConfirmed, keyOf } from './knots.ts';
import { hasNotes, notesAround, type WaitNote, waitOf } from './notes.ts';
import { NoEvents, OwnWait, type OwnWaitParts, type WaiterPlace } from './own-wait.ts';

export interface DeadlockOptions {
  /**
   * With `'reject'` the youngest of a deadlock that has this option gets `DeadlockError`; default
   * `'event'`: all are told, and none is rejected.
   */
  readonly onDeadlock?: 'event' | 'reject';
  /** How long a wait lasts before it is published; default 1 s. */
  readonly after?: Duration;
}

/** While a knot is not settled, looks are this many times as frequent as `after`. */
const HASTE = 4;

/** The longest pause between two looks, in multiples of `after`. */
const PATIENCE = 10;

/** Most waits in one look, which reads what they need at once; those left are in the next. */
const AT_ONCE = 32;

const detecting = new WeakSet<Engine>();

/**
 * Finds deadlocks with tasks that use it, too, in any process on the store, and emits `deadlock`.
 * Costs no request before a task that holds a lock has waited for a second. The locks of a task
 * are those of `run`, `tryRun` and `allOf` around it; `holding` adds those of `acquire`. Ends when
 * the locks are closed; returns a function that ends it earlier.
 *
 * @example
 * import { detectDeadlocks } from 'holdfast';
 *
 * detectDeadlocks(locks, { onDeadlock: 'reject' });
 * locks.on('deadlock', ({ resource, cycle }) => console.warn(resource, cycle));
 *
 * @throws UsageError, also if the store keeps no queue with tokens and permits, or if these locks
 *   do it already; ClosedError
 */
export function detectDeadlocks(locks: Locks, options: DeadlockOptions = {}): () => void {
  const engine = engineOf(locks);
  // Not outside, or programs that do not call it would carry it.
  const checks = { onDeadlock: oneOf('event', 'reject'), after: positive('1s') };
  const { after: afterMs, onDeadlock } = checkOptions(options, checks, 'detectDeadlocks');
  engine.checkOpen();
  const { store } = engine.services.calls;
  if (!hasNotes(store)) {
    const needs = 'a store that keeps a queue with tokens and permits';
    throw new UsageError(`detectDeadlocks needs ${needs}; the ${store.name} store does not.`);
  }
  if (detecting.has(engine)) throw new UsageError('These locks detect deadlocks already.');
  detecting.add(engine);
  const detector = new Detector(engine, { afterMs, onDeadlock });
  return () => detector.close();
}

type DetectorTerms = Omit<OwnWaitParts, 'leases'>;

class Detector {
  readonly #engine: Engine;
  /** For notes. */
  readonly #services: Services;
  readonly #terms: DetectorTerms;
  readonly #waits = new Map<Acquisition, OwnWait>();
  readonly #stops: readonly (() => void)[];
  readonly #timer: OneTimer;
  #timerAt = Number.POSITIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking = false;
  #closed = false;

  constructor(engine: Engine, terms: DetectorTerms) {
    this.#engine = engine;
    this.#services = { ...engine.services, events: new NoEvents() };
    this.#terms = terms;
    const { events, clock } = engine.services;
    this.#timer = new OneTimer(clock);
    this.#stops = [
      events.on('acquiring', ({ acquisition, waits }) => waits && this.#begin(acquisition)),
      events.on('acquired', ({ acquisition }) => this.#end(acquisition)),
      events.on('missed', (event) => this.#miss(event)),
      onAbort(engine.closing.signal, () => this.close()),
    ];
  }

  close(): void {
    // A later one may have begun on the same locks.
    if (this.#closed) return;
    this.#closed = true;
    for (const stop of this.#stops) stop();
    this.#timer.clear();
    for (const acquisition of [...this.#waits.keys()]) this.#end(acquisition);
    detecting.delete(this.#engine);
  }

  /** Runs in the context of the caller. */
  #begin(acquisition: Acquisition): void {
    const leases = heldAround(this.#services.calls.store);
    if (leases.length === 0) return;
    const wait = new OwnWait(this.#services, acquisition, { leases, ...this.#terms });
    this.#waits.set(acquisition, wait);
    this.#arm(wait.dueAt);
  }

  /** The error of a wait that ran out is the `waiting` of its event, and is not thrown yet. */
  #miss({ acquisition, waiting }: LockEvents['missed']): void {
    const { cycle } = this.#waits.get(acquisition) ?? {};
    if (waiting && cycle) Object.assign(waiting, { cycle });
    this.#end(acquisition);
  }

  #end(acquisition: Acquisition): void {
    const wait = this.#waits.get(acquisition);
    if (!wait) return;
    this.#waits.delete(acquisition);
    wait.end();
  }

  /** One timer for all waits. */
  #arm(at: number): void {
    if (this.#looking || this.#timerAt <= at) return;
    // Waits that are due within one such pause share a look.
    this.#timerAt = Math.max(at, this.#lookedAt + this.#terms.afterMs / HASTE);
    const pause = this.#timerAt - this.#engine.services.clock.now();
    detached(() => this.#timer.set(() => void this.#look(), pause));
    this.#timer.unref();
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#looking = true;
    const now = this.#engine.services.clock.now();
    this.#lookedAt = now;
    const all = [...this.#waits.values()].filter(({ dueAt }) => dueAt <= now);
    const due = all.sort((a, b) => a.dueAt - b.dueAt).slice(0, AT_ONCE);
    if (due.length > 0) await this.#examine(due);
    this.#looking = false;
    const left = [...this.#waits.values()].map(({ dueAt }) => dueAt);
    if (left.length > 0) this.#arm(Math.min(...left));
  }

  async #examine(due: readonly OwnWait[]): Promise<void> {
    const places = placesIn(this.#engine);
    const found: [OwnWait, WaiterPlace][] = [];
    for (const wait of due) {
      const place = places.get(wait.acquisition);
      // A standby of an election waits for ever, and holds nothing up.
      const waits = place && !place.waiter.options.standby && wait.holds;
      if (waits) found.push([wait, place]);
      // One in a deadlock has run out, and `missed` is about to ask for it.
      else if (place || !wait.cycle) this.#end(wait.acquisition);
    }
    await Promise.all(
      found.map(([wait, place]) => wait.posted || wait.publish(place, wait.knot, wait.told)),
    );
    const resources = found.map(([, { queue }]) => queue.spec.resource);
    const notes = await notesAround(this.#engine, resources);
    const stuck = stuckOf(notes);
    await Promise.all(found.map(([wait, place]) => this.#judge(wait, place, stuck)));
  }

  /** One step towards the end of a deadlock; the next one is taken at the next look. */
  async #judge(wait: OwnWait, place: WaiterPlace, stuck: readonly WaitNote[]): Promise<void> {
    if (place.waiter.settled || !this.#waits.has(wait.acquisition)) return;
    wait.cycle = undefined;
    const knot = knotOf(stuck, wait.id);
    const key = knot ? keyOf(knot) : '';
    if (knot && key === wait.knot) return this.#settle(wait, place, knot);
    wait.dueAt = this.#next(wait, knot !== undefined);
    if (knot) await wait.publish(place, key, false);
  }

  /** This wait has confirmed the knot. */
  async #settle(wait: OwnWait, place: WaiterPlace, knot: readonly WaitNote[]): Promise<void> {
    const agreed = isConfirmed(knot);
    const cycle = knot.map(waitOf);
    const victim = victimOf(cycle);
    const isVictim = victim?.id === wait.id;
    const { queue, waiter } = place;
    if (agreed) wait.cycle = cycle;
    wait.dueAt = this.#next(wait, isVictim || !wait.told);
    if (agreed && !wait.told) {
      const { clock, events } = this.#engine.services;
      const { resource, kind } = queue.spec;
      const { acquisition, began } = wait;
      const waitedMs = clock.now() - began;
      events.emit('deadlock', { resource, kind, waitedMs, cycle, victim, acquisition });
      await wait.publish(place, wait.knot, true);
    } else if (agreed && isVictim && knot.every(({ told }) => told)) {
      waiter.reject(new DeadlockError(queue.spec.resource, detailOf(cycle), cycle));
      queue.leave(waiter);
    }
  }

  #next({ began }: OwnWait, soon: boolean): number {
    const now = this.#engine.services.clock.now();
    const { afterMs } = this.#terms;
    if (soon) return now + afterMs / HASTE;
    return now + Math.min(Math.max(afterMs, (now - began) / HASTE), afterMs * PATIENCE);
  }
}

/** The waits of this process, by what listeners know of them. */
function placesIn({ queues }: Engine): Map<Acquisition | undefined, WaiterPlace> {
  const places = new Map<Acquisition | undefined, WaiterPlace>();
  for (const queue of queues.all) {
    for (const waiter of queue.waiters) places.set(waiter.options.acquisition, { queue, waiter });
  }
  return places;
}
