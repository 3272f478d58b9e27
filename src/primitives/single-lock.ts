import { UsageError } from '../base/errors.ts';
import { show } from '../base/show.ts';
import { sameQueue } from '../contract/admission.ts';
import { UnsupportedError } from '../contract/errors.ts';
import type { Kind, Member } from '../contract/store.ts';
import type { Engine } from '../core/engine.ts';
import { DeadlockError, MismatchError } from '../core/errors.ts';
import type { Lease } from '../core/lease.ts';
import type { Spec } from '../core/local-queue.ts';
import type { AcquireOptions } from '../core/waiter.ts';
import { Lockable, type Work } from './lock.ts';
import { Frame } from './reentrancy.ts';
import { inContexts, tellOf } from './telling.ts';

/** A lock on one resource: mutex, semaphore, or one side of a read-write lock. */
export class SingleLock extends Lockable<Lease> {
  readonly #spec: Spec;

  /** @internal */
  constructor(engine: Engine, spec: Spec) {
    super(engine);
    this.#spec = spec;
  }

  /** The full name, prefix included. */
  get resource(): string {
    return this.#spec.resource;
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
  checkStranger(permits: number | undefined): void {
    const around = Frame.around(this.engine.services.calls.store, this.resource);
    if (around) this.#checkDeadlock(around, permits ?? 1);
  }

  /** @internal */
  override read(options: AcquireOptions): AcquireOptions {
    const read = super.read(options);
    const { permits = 1 } = read;
    if (permits !== 1 && this.#spec.kind !== 'permits') {
      throw new UsageError('Only a semaphore has permits.', { resource: this.resource });
    }
    if (!Number.isInteger(permits) || permits < 1 || permits > this.#spec.limit) {
      const range = `a whole number from 1 to the limit, ${this.#spec.limit}`;
      throw new UsageError(`permits must be ${range}, not ${show(permits)}.`, {
        resource: this.resource,
      });
    }
    return read;
  }

  /** @internal */
  protected take(options: AcquireOptions, waits: boolean): Promise<Lease | null> {
    const { calls, events } = this.engine.services;
    const { acquiring, missed } = events.of;
    if (!acquiring.isThere && !missed.isThere) return this.#take(options, waits);
    const { resource, kind } = this.#spec;
    const acquisition = { resource, kind, permits: options.permits ?? 1, store: calls.store.name };
    const take = (heard: AcquireOptions) => this.#take(heard, waits);
    return tellOf(events, { acquisition, waits, options, take });
  }

  async #take(options: AcquireOptions, waits: boolean): Promise<Lease | null> {
    this.engine.checkOpen();
    options.signal?.throwIfAborted();
    const { kind, limit } = this.#spec;
    const permits = kind === 'write' ? limit : (options.permits ?? 1);
    const { name, traits } = this.engine.services.calls.store;
    if (permits < limit && !traits.permits) {
      const refused = kind === 'read' ? 'readers' : `${permits} of ${limit} permits`;
      const message = `The ${name} store lets one in at a time, so it cannot give ${refused}.`;
      throw new UnsupportedError('permits', message);
    }
    return this.engine.queueFor(this.#spec).join(options, permits, waits);
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
    const around = Frame.around(this.engine.services.calls.store, this.resource);
    if (!around) return undefined;
    const { kind, reentrant } = this.#spec;
    const enough = kind !== 'permits' || (options.permits ?? 1) <= around.lease.permits;
    const free = waits || !around.busy;
    if (reentrant && enough && free && covers(around.kind, kind)) {
      return around.enter(options, () => work(around.lease));
    }
    if (waits) this.#checkDeadlock(around, options.permits ?? 1);
    return undefined;
  }

  /** @internal */
  protected holders(): Promise<readonly Member[]> {
    return this.engine.services.looks.holders(this.resource);
  }

  #checkDeadlock(around: Frame, permits: number): void {
    const { kind, limit } = this.#spec;
    if (!sameQueue(around.kind, kind)) {
      throw new MismatchError(this.resource, `this context holds it as a ${around.kind} lock`);
    }
    if (kind !== 'permits') throw new DeadlockError(this.resource, advice(around.kind, kind));
    const held = Frame.permitsAround(this.engine.services.calls.store, this.resource);
    if (held + permits <= limit) return;
    const why = `this context holds ${held} of ${limit} permits and asks for ${permits} more`;
    throw new DeadlockError(this.resource, why);
  }
}

/** Whoever holds `held` may enter what asks for `asked`. */
function covers(held: Kind, asked: Kind): boolean {
  return held === asked || (held === 'write' && asked === 'read');
}

function advice(held: Kind, asked: Kind): string {
  if (held === 'read' && asked === 'write') {
    const why =
      'a read lock cannot become a write lock, for two who tried would wait for each other';
    return `${why}; take the write lock first and downgrade it`;
  }
  return `this context holds it already; pass the lease on, or say reentrant: true`;
}
