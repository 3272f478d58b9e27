import { UsageError } from '../base/errors.ts';
import { sameQueue } from '../contract/admission.ts';
import { UnsupportedError } from '../contract/errors.ts';
import type { Kind, Member } from '../contract/store.ts';
import type { Engine } from '../core/engine.ts';
import { DeadlockError, MismatchError } from '../core/errors.ts';
import type { Lease } from '../core/lease.ts';
import type { Spec } from '../core/local-queue.ts';
import { type AcquireOptions, NO_OPTIONS } from '../core/waiter.ts';
import { inContexts, tellOf } from './acquisition-events.ts';
import { Lockable, type Work } from './lockable.ts';
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

  /** @internal How much of the limit it takes. Throws UsageError for what it cannot take. */
  protected permitsOf(_: AcquireOptions): number {
    return 1;
  }

  /** @internal Whether a nested run may use the lease around it. */
  protected covers(around: Frame, _: AcquireOptions): boolean {
    return around.kind === this.spec.kind;
  }

  /** @internal Why a wait inside a lease on the same queue would never end; undefined if it may. */
  protected whyNever(_around: Kind, _: AcquireOptions): string | undefined {
    return 'this context holds it already; pass the lease on, or say reentrant: true';
  }

  /** @internal */
  belongsTo(engine: Engine): boolean {
    return this.engine === engine;
  }

  /** @internal For elections: waits without end, whatever the default. */
  stand(options: AcquireOptions): Promise<Lease> {
    return this.take(this.read(options), true) as Promise<Lease>;
  }

  /** @internal For `locks.all`, which runs its work inside every part. */
  enclose<T>(lease: Lease, work: () => T | PromiseLike<T>): Promise<T> {
    const { events } = this.engine.services;
    const inside = events.of.working.isThere ? inContexts(events, lease, work) : work;
    return new Frame(this.engine, lease).run(inside);
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
  protected take(options: AcquireOptions, waits: boolean): Promise<Lease | null> {
    const { calls, events } = this.engine.services;
    const { acquiring, missed } = events.of;
    if (!acquiring.isThere && !missed.isThere) return this.#take(options, waits);
    const { resource, kind } = this.spec;
    const acquisition = { resource, kind, permits: options.permits ?? 1, store: calls.store.name };
    const take = (heard: AcquireOptions) => this.#take(heard, waits);
    return tellOf(events, { acquisition, waits, options, take });
  }

  async #take(options: AcquireOptions, waits: boolean): Promise<Lease | null> {
    this.engine.checkOpen();
    options.signal?.throwIfAborted();
    const { kind, limit } = this.spec;
    const permits = this.permitsOf(options);
    const { name, traits } = this.engine.services.calls.store;
    if (permits < limit && !traits.permits) {
      const refused = kind === 'read' ? 'readers' : `${permits} of ${limit} permits`;
      const message = `The ${name} store lets one in at a time, so it cannot give ${refused}.`;
      throw new UnsupportedError('permits', message);
    }
    return this.engine.queueFor(this.spec).join(options, permits, waits);
  }

  /** @internal */
  protected within<T>(lease: Lease, work: Work<Lease, T>): Promise<T> {
    return this.enclose(lease, () => work(lease));
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
      return around.enter(options, () => work(around.lease));
    }
    if (waits) this.#checkDeadlock(around, options);
    return undefined;
  }

  /** @internal */
  protected holders(): Promise<readonly Member[]> {
    return this.engine.services.looks.holders(this.resource);
  }

  #around(): Frame | undefined {
    return Frame.around(this.engine.services.calls.store, this.resource);
  }

  #checkDeadlock(around: Frame, options: AcquireOptions): void {
    if (!sameQueue(around.kind, this.spec.kind)) {
      throw new MismatchError(this.resource, `this context holds it as a ${around.kind} lock`);
    }
    const why = this.whyNever(around.kind, options);
    if (why !== undefined) throw new DeadlockError(this.resource, why);
  }
}
