import type { Store } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { simulatedClock } from 'holdfast/testkit';
import type { Topic } from '../../src/testkit/case.ts';
import { register as registerCases, TOPICS } from '../../src/testkit/conformance.ts';

/** A case of the conformance suite that can be run by itself. */
export type Registered = { readonly name: string; readonly body: () => Promise<void> };

/** The suite for stores in memory that are changed like this. */
export function register(
  change: (store: Store) => Store,
  topics?: readonly string[],
  all: readonly Topic[] = TOPICS,
): {
  readonly cases: Registered[];
  readonly skipped: string[];
} {
  const cases: Registered[] = [];
  const skipped: string[] = [];
  registerCases(all, {
    test: (name, body) => cases.push({ name, body }),
    skip: (name, reason) => skipped.push(`${name}: ${reason}`),
    create({ maxWaiters = 10_000, quarantineMs: quarantine = 30_000 }) {
      const clock = simulatedClock();
      const memory = memoryStore({ clock, maxWaiters, quarantine });
      const store = change(memory);
      return {
        clock,
        connect: () => store,
        forget: () => memory.forget(),
        leap: (ms) => clock.sleep(ms),
        dispose: () => clock.stop(),
      };
    },
    traits: change(memoryStore()).traits,
    forgets: true,
    leaps: true,
    patienceMs: 12_000,
    ...(topics && { topics }),
  });
  return { cases, skipped };
}

/** The names of the cases that fail. */
export async function failures(cases: readonly Registered[]): Promise<string[]> {
  const outcomes = await Promise.allSettled(cases.map(({ body }) => body()));
  return cases.filter((_, i) => outcomes[i]?.status === 'rejected').map(({ name }) => name);
}
