/**
 * Locks on one resource, and the events around the life of their leases: a caller asks for a lock,
 * gets none, or the work of `run` begins.
 *
 * Invariant: every `acquiring` is followed by one `acquired` or one `missed` with the same
 * acquisition. It is emitted in the caller's asynchronous context, before any request to the store,
 * so a listener may read that context. A listener can only choose the context of the work: the work
 * runs once, and the listener cannot change its outcome.
 * What would break it: awaiting before the first event, or leaving the outcome to the listener.
 */
import { isLockError, UsageError } from '../base/errors.ts';
import { sameQueue } from '../contract/admission.ts';
import { UnsupportedError } from '../contract/errors.ts';
import type { GoneStatus, Kind } from '../contract/store.ts';
import { type AcquireOptions, NO_OPTIONS } from '../core/acquire-options.ts';
import type { Engine } from '../core/engine.ts';
import { type AcquireTimeoutError, DeadlockError, MismatchError } from '../core/errors.ts';
import { type Events, type MissReason, warnOf } from '../core/events.ts';
import type { Lease } from '../core/lease.ts';
import { Newest } from '../core/newest.ts';
import type { Spec } from '../core/services.ts';
import { type Waiting, waitingOf } from '../store-calls/waiting.ts';
import { Lockable, type Scope, type Work } from './lockable.ts';
import { Frame } from './reentrancy.ts';

/** A lock on one resource: a mutex, a semaphore, or one side of a read-write lock. */
export abstract class Lock extends Lockable<Lease> {
  /** @internal */
  protected readonly spec: Spec;

  /** @internal */
  constructor(engine: Engine, spec: Spec) {
    super(engine);
    this.spec = spec;
  }

  /** The full name, prefix included. */
  get resource(): string {
    return this.spec.resource;
  }

  /** @internal The part of the limit that it takes. Throws UsageError if it cannot take so much. */
  protected permitsOf(_: AcquireOptions): number {
    return this.spec.permits;
  }

  /** @internal Whether a nested run may use the lease around it. */
  protected covers(around: Frame, _: AcquireOptions): boolean {
    return around.lease.kind === this.spec.kind;
  }

  /** @internal Why a wait inside a lease on the same queue would never end; undefined if it may. */
  protected whyNever(_around: Kind, _: AcquireOptions): string | undefined {
    return 'this context already holds it; pass the lease on, or set reentrant: true';
  }

  /** @internal For elections: waits without end; no default limits the wait. */
  stand(options: AcquireOptions): Promise<Lease> {
    return this.take({ ...this.read(options), standby: true }, true) as Promise<Lease>;
  }

  /** @internal */
  scope(lease: Lease): Scope {
    const { events } = this.engine.services;
    const frame = new Frame(lease);
    return events.of.working.isThere ? inContexts(frame, events, lease) : frame;
  }

  /** @internal Throws DeadlockError if waiting for it here would never end. */
  checkStranger(): void {
    const around = this.#around();
    if (around) this.#checkDeadlock(around, NO_OPTIONS);
  }

  /** @internal */
  override read(options: AcquireOptions): AcquireOptions {
    const read = super.read(options);
    const { kind, resource } = this.spec;
    if (kind === 'permits') this.permitsOf(read);
    else if (read.permits !== undefined && read.permits !== 1) {
      throw new UsageError('Only a semaphore has permits.', { resource });
    }
    return read;
  }

  /** @internal */
  take(options: AcquireOptions, waits: boolean): Promise<Lease | null> {
    const { acquiring, missed } = this.engine.services.events.of;
    const listened = acquiring.isThere || missed.isThere;
    return listened ? this.#takeWithEvents(options, waits) : this.#take(options, waits);
  }

  /** Emits `acquiring`, takes the lock, and emits `missed` if it got none. */
  #takeWithEvents(options: AcquireOptions, waits: boolean): Promise<Lease | null> {
    const { calls, events } = this.engine.services;
    const { resource, kind } = this.spec;
    const acquisition = { resource, kind, permits: options.permits ?? 1, store: calls.store.name };
    let refusal: GoneStatus | undefined;
    const refused = (status: GoneStatus): void => {
      refusal = status;
    };
    const missed = (why: MissReason, error: unknown, waiting: Waiting | undefined): void => {
      events.emit('missed', { resource, kind, why, error, waiting, acquisition });
    };
    events.emit('acquiring', { resource, kind, waits, acquisition });
    const taking = this.#take({ ...options, acquisition, refused }, waits);
    taking.then(
      (lease) => lease ?? missed('taken', undefined, waitingOf({ queue: refusal })),
      (error: unknown) => {
        const why = reasonOf(error, options.signal);
        missed(why, error, why === 'timeout' ? (error as AcquireTimeoutError) : undefined);
      },
    );
    return taking;
  }

  #take(options: AcquireOptions, waits: boolean): Promise<Lease | null> {
    try {
      this.engine.checkOpen();
      options.signal?.throwIfAborted();
      const permits = this.permitsOf(options);
      this.#checkPermits(permits);
      const entering = options.entering ?? this.#newest(options);
      // A claim that begins in a way of its own, or has permits of its own, is of one task.
      const own = entering || permits !== this.spec.permits;
      const spec = own ? { ...this.spec, permits, key: undefined, entering } : this.spec;
      return this.engine.queueFor(spec).join(options, waits);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** How a claim begins that replaces earlier ones, if it does. */
  #newest({ ifBusy }: AcquireOptions): Newest | undefined {
    if (!ifBusy) return undefined;
    const { services } = this.engine;
    const { name, traits } = services.calls.store;
    if (traits.queue && traits.replaces) return new Newest(services, ifBusy);
    throw new UnsupportedError('ifBusy', `The ${name} store cannot replace earlier claims.`);
  }

  #checkPermits(permits: number): void {
    const { kind, limit } = this.spec;
    const { name, traits } = this.engine.services.calls.store;
    if (permits >= limit || traits.permits) return;
    const refused = kind === 'read' ? 'readers' : `${permits} of ${limit} permits`;
    const message = `The ${name} store admits one holder at a time, so not ${refused}.`;
    throw new UnsupportedError('permits', message);
  }

  /** @internal */
  protected nested<T>(
    options: AcquireOptions,
    work: Work<Lease, T>,
    waits: boolean,
  ): Promise<T> | undefined {
    const around = this.#around();
    if (!around) return undefined;
    const free = waits || !around.busy;
    if (this.spec.reentrant && free && this.covers(around, options)) {
      return around.enter(options, work);
    }
    if (waits) this.#checkDeadlock(around, options);
    return undefined;
  }

  /** @internal */
  async waiting(): Promise<Waiting> {
    const { resource, limit } = this.spec;
    return waitingOf({ queue: await this.engine.services.calls.inspectSoon(resource), limit });
  }

  #around(): Frame | undefined {
    return Frame.around(this.engine.services.calls.store, this.resource);
  }

  #checkDeadlock(around: Frame, options: AcquireOptions): void {
    const { kind } = around.lease;
    if (!sameQueue(kind, this.spec.kind)) {
      throw new MismatchError(this.resource, `this context holds it as a ${kind} lock`);
    }
    const why = this.whyNever(kind, options);
    if (why !== undefined) throw new DeadlockError(this.resource, why);
  }
}

function reasonOf(error: unknown, signal: AbortSignal | undefined): MissReason {
  if (signal?.aborted && error === signal.reason) return 'aborted';
  if (isLockError(error, 'ACQUIRE_TIMEOUT')) return 'timeout';
  return (error as { reason?: unknown } | null)?.reason === 'replaced' ? 'replaced' : 'failed';
}

/** The same scope, with work in the contexts that the listeners of `working` choose. */
function inContexts(scope: Scope, events: Events, lease: Lease): Scope {
  const contextsOf = <T>(work: () => T): (() => T) => {
    let around = work;
    const within = (run: (work: () => void) => void): void => {
      const inner = around;
      around = () => runBy(run, inner);
    };
    events.emit('working', { ...lease.identity(), within });
    return around;
  };
  return { inside: (work) => scope.inside(contextsOf(work)), close: () => scope.close() };
}

function runBy<T>(run: (work: () => void) => void, work: () => T): T {
  let outcome: (() => T) | undefined;
  const once = (): void => {
    if (outcome) return;
    try {
      const value = work();
      outcome = () => value;
    } catch (error) {
      outcome = () => {
        throw error;
      };
    }
  };
  try {
    run(once);
  } catch (error) {
    warnOf('working', error);
  }
  once();
  return (outcome as unknown as () => T)();
}
