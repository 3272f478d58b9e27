import { UsageError } from '../base/errors.ts';
import { sameQueue } from '../contract/admission.ts';
import { UnsupportedError } from '../contract/errors.ts';
import type { Kind } from '../contract/store.ts';
import { type AcquireOptions, NO_OPTIONS } from '../core/acquire-options.ts';
import type { Engine } from '../core/engine.ts';
import { DeadlockError, MismatchError } from '../core/errors.ts';
import type { Lease } from '../core/lease.ts';
import type { Spec } from '../core/services.ts';
import { type Waiting, waitingOf } from '../store-calls/waiting.ts';
import { inContexts, withEvents } from './acquisition-events.ts';
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
    const { calls, events } = this.engine.services;
    const { acquiring, missed } = events.of;
    if (!acquiring.isThere && !missed.isThere) return this.#take(options, waits);
    const { resource, kind } = this.spec;
    const acquisition = { resource, kind, permits: options.permits ?? 1, store: calls.store.name };
    const take = (given: AcquireOptions) => this.#take(given, waits);
    return withEvents(events, { acquisition, waits, options, take });
  }

  #take(options: AcquireOptions, waits: boolean): Promise<Lease | null> {
    try {
      this.engine.checkOpen();
      options.signal?.throwIfAborted();
      const permits = this.permitsOf(options);
      this.#checkPermits(permits);
      const spec = permits === this.spec.permits ? this.spec : { ...this.spec, permits };
      return this.engine.queueFor(spec).join(options, waits);
    } catch (error) {
      return Promise.reject(error);
    }
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
