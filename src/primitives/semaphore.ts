import { wholeNumber } from '../base/options.ts';
import type { Kind } from '../contract/store.ts';
import type { AcquireOptions } from '../core/waiter.ts';
import { Lock } from './lock.ts';
import { Frame } from './reentrancy.ts';

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
