/** The suite has teeth: it notices each of these faults, and none where there is none. */
import { describe, expect, test } from 'vitest';
import { BROKEN_STORES, brokenStore } from './broken-stores.ts';
import { failures, type Registered, register } from './registered-cases.ts';

describe('the suite', () => {
  const sound = register((store) => store);

  test('has more than a hundred cases, each with a name of its own', () => {
    expect(sound.cases.length).toBeGreaterThan(100);
    expect(new Set(sound.cases.map(({ name }) => name)).size).toBe(sound.cases.length);
    // Whoever uses a memory waits when it has forgotten.
    const skipped = sound.skipped.filter((each) => !/all programs wait/.test(each));
    expect(skipped).toEqual([]);
  });

  test.for(BROKEN_STORES)('notices that $fault', async (broken) => {
    const suspects = ({ name }: Registered) => broken.noticed.test(name);
    expect(sound.cases.filter(suspects).length).toBeGreaterThan(0);
    expect(await failures(sound.cases.filter(suspects))).toEqual([]);
    const { cases } = register((store) => brokenStore(store, broken));
    expect(await failures(cases.filter(suspects))).not.toEqual([]);
  });

  test('skips what a store does not promise, and says why', () => {
    const modest = { queue: false, tokens: undefined, atomicTry: false, hintsGrant: false };
    const { cases, skipped } = register((store) => {
      return { ...brokenStore(store), traits: { ...store.traits, ...modest } };
    });
    expect(cases.length + skipped.length).toBe(sound.cases.length + sound.skipped.length);
    expect(skipped).toContain(
      'order: a waiter that died is passed over: not promised: the store keeps no queue',
    );
    for (const each of skipped) expect(each).toMatch(/: not promised: .+/);
  });

  test('does not believe a wrong declaration', async () => {
    const { cases } = register((store) => ({ ...brokenStore(store), watch: undefined as never }));
    const declared = cases.filter(({ name }) => name.startsWith('traits: '));
    expect(await failures(declared)).toEqual(['traits: the store is as it was declared']);
  });
});
