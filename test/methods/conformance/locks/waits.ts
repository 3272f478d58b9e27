import type { TestBed } from '../../../../src/testkit/test-bed.ts';

/**
 * Work that a case begins and awaits later. If the case fails before, only its own error is
 * reported, and not the rejection of the abandoned work.
 */
export function later<T>(begun: Promise<T>): Promise<T> {
  begun.catch(() => {});
  return begun;
}

/** Until one claim waits; where no queue shows it, long enough for the store to refuse it. */
export async function untilItWaits(bed: TestBed): Promise<void> {
  if (!bed.store.traits.queue) return bed.quiet();
  await bed.until('it waited', async () => (await bed.look()).waiters.length === 1);
}
