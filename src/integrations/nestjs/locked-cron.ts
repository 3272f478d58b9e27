import type { Duration } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import type { Locks } from '../../locks.ts';
import { type LockedDecorator, type LockedOptions, locked } from '../decorator/locked.ts';

/**
 * Beside `@Cron` of `@nestjs/schedule`: of all instances that start the method at about the same
 * time, one runs it, and the others skip it. `locks` and `name` are those of `locked`; `minHold`
 * must be longer than clocks may differ, and shorter than the time between two runs.
 * @throws UsageError without `minHold`, and as `locked` does.
 */
export function LockedCron<Self extends object = object>(
  locks: Locks | ((self: Self) => Locks),
  name: string,
  options: Omit<LockedOptions, 'wait' | 'ifBusy'> & { readonly minHold: Duration },
): LockedDecorator<Self, [], true> {
  if ((options as { minHold?: Duration } | undefined)?.minHold === undefined) {
    throw new UsageError("LockedCron needs minHold, such as '20s': how far clocks may differ.");
  }
  return locked<Self, []>(locks, name, { ...options, ifBusy: 'skip' });
}
