import { type Channel, channel } from 'node:diagnostics_channel';
import type { LossReason, StoreError } from './errors.ts';
import { UsageError } from './errors.ts';
import { show } from './show.ts';
import type { Kind, Takeover } from './store.ts';

export interface LockEvents {
  /** A lease was granted. */
  acquired: { resource: string; kind: Kind; token: bigint; takeover?: Takeover | undefined };
  /** A wait has lasted for 30 s and goes on. */
  slow: { resource: string; kind: Kind; waitedMs: number; ahead: number | undefined };
  /** A heartbeat failed; the lease is still held, until its deadline. */
  unconfirmed: { resource: string; kind: Kind; remainingMs: number; cause: StoreError | undefined };
  /** A lease ended before its holder released it. */
  lost: {
    resource: string;
    kind: Kind;
    token: bigint;
    reason: LossReason;
    detail: string | undefined;
  };
  /** A holder released its lease. */
  released: { resource: string; kind: Kind; token: bigint };
  /** Programs disagree about the kind of a lock, or about its limit. */
  mismatch: { resource: string; kind: Kind; detail: string };
  /** The store lost its memory and grants nothing yet. */
  quarantine: { resource: string; leftMs: number };
}

export type LockEventName = keyof LockEvents;

const NAMES: readonly LockEventName[] = [
  'acquired',
  'slow',
  'unconfirmed',
  'lost',
  'released',
  'mismatch',
  'quarantine',
];

type Listener = (event: never) => void;

/** Listeners of one `Locks`, and the process's channels `holdfast:<event>`. Free if unused. */
export class Events {
  readonly #listeners = new Map<LockEventName, Set<Listener>>();
  readonly #channels = new Map<LockEventName, Channel>();

  constructor() {
    for (const name of NAMES) this.#channels.set(name, channel(`holdfast:${name}`));
  }

  on<N extends LockEventName>(name: N, listener: (event: LockEvents[N]) => void): () => void {
    if (!NAMES.includes(name)) {
      const all = NAMES.join(', ');
      throw new UsageError(`There is no event ${show(name)}; there are ${all}.`);
    }
    if (typeof listener !== 'function') throw new UsageError('A listener must be a function.');
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) {
        this.#listeners.delete(name);
      }
    };
  }

  has(name: LockEventName): boolean {
    return this.#listeners.has(name) || this.#channels.get(name)?.hasSubscribers === true;
  }

  /**
   * A listener that throws or rejects harms nobody else: its error becomes a process warning.
   * Listeners may do anything with the locks, so a caller has nothing left to do after it.
   */
  emit<N extends LockEventName>(name: N, event: LockEvents[N]): void {
    const warn = (error: unknown): void => {
      process.emitWarning(`A listener of '${name}' failed: ${show(error)}`);
    };
    // A copy, because a listener that is added now is meant for later events.
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        const result = (listener as (event: LockEvents[N]) => unknown)(event);
        if (result instanceof Promise) result.catch(warn);
      } catch (error) {
        warn(error);
      }
    }
    this.#channels.get(name)?.publish(event);
  }
}
