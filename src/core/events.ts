import { type Channel, channel } from 'node:diagnostics_channel';
import { UsageError } from '../base/errors.ts';
import { show, withJson } from '../base/show.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Claim, ClaimStatus, Kind, Store, Takeover } from '../contract/store.ts';
import type { BatchOutcome } from '../store-calls/batcher.ts';
import type { PublishedWait, Waiting } from '../store-calls/waiting.ts';
import type { LossReason } from './errors.ts';

/** One acquisition, up to the end of its hold: the same object in every event about it. */
export interface Acquisition {
  readonly resource: string;
  readonly kind: Kind;
  readonly permits: number;
  /** The name of the store: `redis`. */
  readonly store: string;
}

/**
 * How a lease came from the holder before: from a task of this process without the store, or
 * through the store's queue, where another process or claim released it.
 */
export type HandOff = 'local' | 'remote';

/** Why there is no lease: a try found the lock taken, or the wait ended. */
export type MissReason = 'taken' | 'timeout' | 'aborted' | 'replaced' | 'failed';

/**
 * The events of `locks.on`.
 *
 * @example
 * const stop = locks.on('lost', ({ resource, reason }) => console.warn(resource, reason));
 */
export interface LockEvents {
  /**
   * A caller asks for a lock; emitted in its asynchronous context. `waits` is false for
   * `tryAcquire` and `tryRun`.
   */
  acquiring: OfAcquisition & { waits: boolean };
  /**
   * The caller got no lease; `error` is the rejection, undefined if the lock is taken. `waiting`
   * says for what it waited; undefined if the wait was aborted or failed, and without holders for a
   * try, which does not look at them.
   */
  missed: OfAcquisition & { why: MissReason; error: unknown; waiting: Waiting | undefined };
  /** A lease was granted. */
  acquired: OfLease & { takeover?: Takeover | undefined; handOff?: HandOff | undefined };
  /**
   * The work of `run` or `tryRun` is about to begin. `within` takes a function that runs it in an
   * asynchronous context of the listener; it must call `work`, once, before it returns.
   */
  working: OfLease & { within: (run: (work: () => void) => void) => void };
  /** A wait has lasted for a second and continues. */
  waiting: LongWait;
  /**
   * A wait has lasted for 30 s and continues. Without a listener, the process warns of the first
   * such wait for each resource.
   */
  slow: LongWait & { ahead: number | undefined };
  /**
   * A heartbeat failed; the lease is still held, until its deadline. Without a cause: the machine
   * may have been stopped together with its clocks, and the store is being asked.
   */
  unconfirmed: OfLock & { remainingMs: number; cause: StoreError | undefined };
  /** A lease ended before its holder released it; `cause` says why the last heartbeat failed. */
  lost: OfLease & {
    reason: LossReason;
    detail: string | undefined;
    cause: StoreError | undefined;
  };
  /** A holder released its lease, or handed it over to another process. */
  released: OfLease & { handedOver?: true };
  /** A request with heartbeats got a reply, or failed; `failed` is how many of its claims did. */
  heartbeat: { store: string; claims: number; failed: number; cause: StoreError | undefined };
  /** Programs disagree about the kind of a lock, or about its limit. */
  mismatch: OfLock & { detail: string };
  /** The store lost its memory and grants nothing yet. */
  quarantine: { store: string; resource: string; leftMs: number };
  /**
   * This wait and others wait for each other; only with `detectDeadlocks`. Each of them emits it,
   * and again if more are found. `victim` is the one that is about to be rejected; undefined if
   * none is.
   */
  deadlock: OfAcquisition & {
    waitedMs: number;
    /** This wait first, then one for which it waits, and so on. */
    cycle: readonly PublishedWait[];
    victim: PublishedWait | undefined;
  };
}

interface OfLock {
  resource: string;
  kind: Kind;
}

interface OfAcquisition extends OfLock {
  acquisition: Acquisition;
}

/** The part that all events of a lease share. */
export interface OfLease extends OfAcquisition {
  token: bigint;
}

interface LongWait extends OfLock {
  waitedMs: number;
  waiting: Waiting;
  /** Undefined if nothing listened for `acquiring` or `missed` when the wait began. */
  acquisition: Acquisition | undefined;
}

export type LockEventName = keyof LockEvents;

const NAMES: readonly LockEventName[] = [
  'acquiring',
  'missed',
  'acquired',
  'working',
  'waiting',
  'slow',
  'unconfirmed',
  'lost',
  'released',
  'heartbeat',
  'mismatch',
  'quarantine',
  'deadlock',
];

type Listener = (event: never) => void;

class EventListeners {
  readonly listeners: Set<Listener> = new Set();
  readonly channel: Channel;

  constructor(name: LockEventName) {
    this.channel = channel(`holdfast:${name}`);
  }

  get isThere(): boolean {
    // A function in workerd, unless the compatibility date is 2026-05-19 or later.
    return this.listeners.size > 0 || this.channel.hasSubscribers === true;
  }
}

/** Listeners of one `Locks`, and the process's channels `holdfast:<event>`. Free if unused. */
export class Events {
  /** Properties, because an acquisition reads five, and a lookup by key takes ten times as long. */
  readonly of = Object.fromEntries(
    NAMES.map((name) => [name, new EventListeners(name)]),
  ) as Readonly<Record<LockEventName, EventListeners>>;

  on<N extends LockEventName>(name: N, listener: (event: LockEvents[N]) => void): () => void {
    if (!NAMES.includes(name)) {
      const all = NAMES.join(', ');
      throw new UsageError(`There is no event ${show(name)}; the events are ${all}.`);
    }
    if (typeof listener !== 'function') throw new UsageError('A listener must be a function.');
    const { listeners } = this.of[name];
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /**
   * A listener that throws or rejects does not affect others: its error becomes a process warning.
   * Listeners may do anything with the locks, so `emit` must be the caller's last step.
   */
  emit<N extends LockEventName>(name: N, event: LockEvents[N]): void {
    const warn = (error: unknown): void => warnOf(name, error);
    const { listeners, channel } = this.of[name];
    withJson(event);
    // A copy, because a listener that is added now gets only later events.
    for (const listener of [...listeners]) {
      try {
        const result = (listener as (event: LockEvents[N]) => unknown)(event);
        (result as Partial<PromiseLike<unknown>> | undefined)?.then?.(undefined, warn);
      } catch (error) {
        warn(error);
      }
    }
    channel.publish(event);
  }
}

export function warnOf(name: LockEventName, error: unknown): void {
  process.emitWarning(`A listener of '${name}' failed: ${show(error)}`);
}

/** Reports a limit other than the claim's own: programs disagree. */
export function noticeLimit(events: Events, claim: Claim, limit: number | undefined): void {
  if (limit === undefined) return;
  const { resource, kind } = claim;
  const detail = `the limit in force is ${limit}, not ${claim.limit}`;
  events.emit('mismatch', { resource, kind, detail });
}

/** Until when each store grants nothing, as far as the process knows; in epoch ms. */
const closedUntil = new WeakMap<Store, number>();

/** Warns the process, too, once for each loss of memory, unless listeners know. */
export function noticeQuarantine(events: Events, store: Store, claim: Claim, leftMs: number): void {
  events.emit('quarantine', { store: store.name, resource: claim.resource, leftMs });
  const { quarantine, slow } = events.of;
  const now = Date.now();
  if (quarantine.isThere || slow.isThere || now < (closedUntil.get(store) ?? 0)) return;
  closedUntil.set(store, now + leftMs);
  const left = `${(leftMs / 1000).toFixed(1)} s`;
  const what = `${store.name} is new or has lost its data`;
  const message = `${what}, and grants nothing for another ${left}.`;
  process.emitWarning(message, { type: 'HoldfastWarning', code: 'HOLDFAST_QUARANTINE' });
}

export function noticeHeartbeat(
  events: Events,
  request: BatchOutcome<ClaimStatus> & { readonly store: string },
): void {
  if (!events.of.heartbeat.isThere) return;
  const { store, claims, results, error } = request;
  const refused = results.find((status) => status.state === 'error')?.error;
  const failed = error ? claims : results.filter(({ state }) => state === 'error').length;
  events.emit('heartbeat', { store, claims, failed, cause: error ?? refused });
}
