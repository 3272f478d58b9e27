/**
 * `once`, for a key that is done, which takes one look, and for a new one, which takes a claim, two
 * looks, a record and a release. A free mutex is beside them.
 */
import { createLocks } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { once } from 'holdfast/once';
import { atOnce, compare } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

const ROUNDS = 5;
const TIMES = 2_000;

/** So that what earlier rounds have kept goes while later ones run. */
const OPTIONS = { keepFor: '10s' } as const;
const DONE = { keepFor: '1h' } as const;

export async function measure(places: readonly Place[]): Promise<void> {
  for (const place of places) await at(place.url);
}

async function at(url: string): Promise<void> {
  const { name: store } = await subjectAt(url);
  const locks = createLocks(await openStore(url));
  await once(locks, 'done', DONE, () => 1);
  let keys = 0;
  const deeds: Readonly<Record<string, (task: number) => Promise<unknown>>> = {
    'mutex, acquire and release': async (task) =>
      (await locks.mutex(`mutex:${task}`).acquire()).release(),
    'once, a key that is done': () => once(locks, 'done', DONE, () => 1),
    'once, a new key': () => once(locks, `new:${keys++}`, OPTIONS, () => 1),
  };
  for (const tasks of [1, 64]) {
    const way = tasks === 1 ? 'one after another' : `${tasks} at once`;
    const candidates = Object.entries(deeds).map(([what, deed]) => ({
      name: `${store}: ${what}, ${way}`,
      round: () => atOnce(tasks, TIMES, deed),
    }));
    await compare('calls/s', candidates, ROUNDS);
  }
  await locks.close();
}
