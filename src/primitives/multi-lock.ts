/**
 * Several locks at once, all or nothing.
 *
 * Invariant: all programs take the parts in the order of their names by code units, so no two can
 * each hold what the other waits for. All waits share one deadline. If one fails, the parts taken
 * so far are released. Heartbeats keep earlier parts alive while later ones wait, and if one was
 * lost meanwhile, the whole fails.
 * What would break it: an order that depends on the caller or on the locale.
 */
import { firstOf } from '../base/aborts.ts';
import { parseDuration } from '../base/duration.ts';
import { UsageError } from '../base/errors.ts';
import { reading } from '../base/options.ts';
import type { AcquireOptions } from '../core/acquire-options.ts';
import type { Engine } from '../core/engine.ts';
import type { LeaseLostError } from '../core/errors.ts';
import type { Lease } from '../core/lease.ts';
import type { Waiting } from '../store-calls/waiting.ts';
import type { Lock } from './lock.ts';
import { type Held, Lockable, type Scope } from './lockable.ts';
import { Frame } from './reentrancy.ts';

/** The leases of all parts, in the order of the call. */
export class MultiLease implements Held {
  readonly leases: readonly Lease[];
  #signal: AbortSignal | undefined;

  /** @internal */
  constructor(leases: readonly Lease[]) {
    this.leases = leases;
  }

  /** Aborts when the first of them is lost. */
  get signal(): AbortSignal {
    this.#signal ??= firstOf(this.leases.map((lease) => lease.signal)).aborter.signal;
    return this.#signal;
  }

  /** True while all are held. Reads the clock now. */
  get held(): boolean {
    return this.leases.every((lease) => lease.held);
  }

  get remainingMs(): number {
    return Math.min(...this.leases.map((lease) => lease.remainingMs));
  }

  get loss(): LeaseLostError | undefined {
    return this.leases.find((lease) => lease.loss)?.loss;
  }

  /** @throws LeaseLostError unless all are held now. */
  get assertHeld(): () => void {
    return () => {
      for (const lease of this.leases) lease.assertHeld();
    };
  }

  /** Releases all. Never rejects. */
  get release(): () => Promise<void> {
    return async () => {
      await Promise.all(this.leases.map((lease) => lease.release()));
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

/** Several locks as one, made by `allOf`. */
export class MultiLock extends Lockable<MultiLease> {
  /** @internal In the order of the call. */
  readonly parts: readonly Lock[];
  readonly #ordered: readonly Lock[];

  /** @internal */
  constructor(engine: Engine, parts: readonly Lock[]) {
    super(engine);
    this.parts = parts;
    this.#ordered = [...this.parts].sort((a, b) => (a.resource < b.resource ? -1 : 1));
  }

  /** @internal */
  override read(options: AcquireOptions): AcquireOptions {
    const read = super.read(options);
    if (read.permits !== undefined) throw new UsageError('permits is for a single semaphore.');
    if (read.ifBusy !== undefined) throw new UsageError('ifBusy is for a single lock.');
    return read;
  }

  /** @internal */
  async take(options: AcquireOptions, waits: boolean): Promise<MultiLease | null> {
    const { clock, events } = this.engine.services;
    const { wait } = options;
    const until = wait === undefined ? undefined : clock.now() + parseDuration(wait, 'wait');
    const taken = new Map<Lock, Lease>();
    const release = () => Promise.all([...taken.values()].map((lease) => lease.release()));
    let around: Frame | undefined;
    try {
      for (const part of this.#ordered) {
        const left = until === undefined ? {} : { wait: Math.max(0, until - clock.now()) };
        const take = () => part.take({ ...options, ...left }, waits);
        const lease = await (around ? around.inside(take) : take());
        if (!lease) break;
        taken.set(part, lease);
        // A listener of `acquiring` may ask what this wait holds up.
        if (events.of.acquiring.isThere) around = new Frame(lease, around);
      }
      for (const lease of taken.values()) lease.assertHeld();
    } catch (error) {
      await release();
      throw error;
    }
    if (taken.size === this.parts.length) {
      return new MultiLease(this.parts.map((part) => taken.get(part) as Lease));
    }
    await release();
    return null;
  }

  /** @internal The scope of each part is inside that of the part before it. */
  scope({ leases }: MultiLease): Scope {
    const scopes: Scope[] = [];
    const enter = <T>(work: () => T): T => {
      const i = scopes.length;
      const part = this.parts[i];
      if (!part) return work();
      const scope = part.scope(leases[i] as Lease);
      scopes.push(scope);
      return scope.inside(() => enter(work));
    };
    const close = async (): Promise<void> => {
      for (const scope of scopes.reverse()) await scope.close();
    };
    return { inside: enter, close };
  }

  /** @internal Never re-enters: a wait for a part that this context holds would never end. */
  protected nested(_: AcquireOptions, __: unknown, waits: boolean): undefined {
    if (waits) for (const part of this.parts) part.checkStranger();
    return undefined;
  }

  /** @internal */
  protected async waiting(): Promise<Waiting> {
    const all = await Promise.all(this.parts.map((part) => part.waiting()));
    const taken = ({ why, holders }: Waiting) => why !== 'queue' || holders.length > 0;
    const first = all.find(taken) ?? (all[0] as Waiting);
    return { ...first, holders: all.flatMap(({ holders }) => holders) };
  }
}

/**
 * Several locks at once, all or nothing. All are of the same `Locks`.
 *
 * @example
 * import { allOf } from 'holdfast';
 *
 * const accounts = [from, to].map((id) => locks.mutex(`account:${id}`));
 * await allOf(accounts).run(() => transfer(from, to));
 *
 * @throws UsageError if there are none, or two on one resource.
 */
export function allOf(locks: readonly Lock[]): MultiLock {
  return multiLockOf('allOf()', locks);
}

/** @throws UsageError */
export function multiLockOf(call: string, locks: readonly Lock[]): MultiLock {
  return reading(`The list of ${call}`, () => {
    const parts = Array.isArray(locks) ? [...locks] : [];
    const engine: Engine | undefined = parts[0]?.engine;
    if (!engine) throw new UsageError(`${call} takes a list of at least one lock.`);
    // The engine, and not the class, says whose they are: there may be two copies of the package.
    if (!parts.every((part) => part?.engine === engine && typeof part.resource === 'string')) {
      throw new UsageError(`${call} takes mutexes, semaphores, readers and writers of one Locks.`);
    }
    if (new Set(parts.map((part) => part.resource)).size < parts.length) {
      throw new UsageError(`${call} has the same resource twice.`);
    }
    return new MultiLock(engine, parts);
  });
}
