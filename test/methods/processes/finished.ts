/** Programs that have nothing left to do, and end although they closed no locks: record 5. */
import { createLocks } from 'holdfast';
import { expect, onTestFinished } from 'vitest';
import { paced } from '../../support/this-run.ts';
import { Child } from './child.ts';
import type { FinisherOptions } from './children/finisher.ts';
import { type OpenTerms, opened } from './opened.ts';

/** In ms; longer than a program lives on that nothing holds. */
const HELD_MS = paced(1500);

export const LEAVES = ['nothing', 'locks', 'lease'] as const;

let programs = 0;

export function program(
  options: Omit<FinisherOptions, 'name'>,
  name = `program:${++programs}`,
): Child {
  return new Child('finisher', { ...options, name } satisfies FinisherOptions);
}

/** For whatever it had to do: its status says that nobody ended it. */
export async function ended(which: string, child: Child): Promise<void> {
  await child.next('done');
  await child.exited();
  expect([which, child.process.exitCode]).toEqual([which, 0]);
}

/**
 * Expects that all end, whatever they leave, and one that waits no sooner than it was granted: the
 * test holds what it waits for, in the same store.
 */
export async function allEnd(given: OpenTerms): Promise<void> {
  const { store, end } = await opened(given);
  onTestFinished(async () => void (await end?.()));
  await using locks = createLocks(store);
  const name = `waits:${++programs}`;
  const lease = await locks.mutex(name).acquire();
  const waits = program({ ...given, leaves: 'locks' }, name);
  const all = LEAVES.map((leaves) => [leaves, program({ ...given, leaves })] as const);
  await waits.next('asks');
  await new Promise((resolve) => setTimeout(resolve, HELD_MS));
  expect(waits.heard('granted')).toEqual([]);
  await lease.release();
  await ended('it waited', waits);
  for (const [leaves, child] of all) await ended(`it leaves ${leaves}`, child);
}
