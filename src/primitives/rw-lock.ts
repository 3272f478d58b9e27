import type { Kind } from '../contract/store.ts';
import type { AcquireOptions } from '../core/waiter.ts';
import { Lock } from './lock.ts';
import type { Frame } from './reentrancy.ts';

/**
 * Many readers or one writer. Made by `locks.rwLock`. Each side is a lock, and the whole is none:
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
  protected override covers(around: Frame): boolean {
    return around.kind === 'read' || around.kind === 'write';
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
