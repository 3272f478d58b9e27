/** The kinds of locks: the permits each takes, what a nested run may use, and what never ends. */
import { wholeNumber } from '../base/options.ts';
import type { Kind } from '../contract/store.ts';
import type { AcquireOptions } from '../core/acquire-options.ts';
import { Lock } from './lock.ts';
import { Frame } from './reentrancy.ts';

/** One holder at a time. Made by `locks.mutex`. */
export class Mutex extends Lock {}

/** At most `limit` permits at a time. Made by `locks.semaphore`. */
export class Semaphore extends Lock {
  /** @internal */
  protected override permitsOf({ permits = 1 }: AcquireOptions): number {
    return wholeNumber(1, this.spec.limit)(permits, 'permits');
  }

  /** @internal Only with at most as many permits as are held. */
  protected override covers(around: Frame, options: AcquireOptions): boolean {
    return super.covers(around, options) && this.permitsOf(options) <= around.lease.permits;
  }

  /** @internal */
  protected override whyNever(_: Kind, options: AcquireOptions): string | undefined {
    const { limit } = this.spec;
    const permits = this.permitsOf(options);
    const held = Frame.permitsAround(this.engine.services.calls.store, this.resource);
    if (held + permits <= limit) return undefined;
    return `this context holds ${held} of ${limit} permits and asks for ${permits} more`;
  }
}

/**
 * Many readers or one writer. Made by `locks.rwLock`. Each side is a lock, but the whole is not:
 * call `read.run` or `write.run`.
 */
export interface RwLock {
  readonly read: ReadLock;
  readonly write: WriteLock;
  /** @internal Throws UsageError. */
  readonly run?: () => never;
}

/** Shares the resource with other readers. */
export class ReadLock extends Lock {
  /** @internal A writer may read what it writes. */
  protected override covers({ lease }: Frame): boolean {
    return lease.kind === 'read' || lease.kind === 'write';
  }
}

/** Has the resource alone. Its lease can be downgraded to a read lock. */
export class WriteLock extends Lock {
  /** @internal */
  protected override whyNever(around: Kind, options: AcquireOptions): string | undefined {
    if (around !== 'read') return super.whyNever(around, options);
    return (
      'a read lock cannot become a write lock: two that tried would wait for each other; ' +
      'take the write lock first and downgrade it'
    );
  }
}
