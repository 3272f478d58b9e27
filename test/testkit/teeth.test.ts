/** The suite has teeth: it notices each of these faults, and none where there is none. */
import { readFileSync } from 'node:fs';
import type { Store } from 'holdfast';
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

  test('runs by topic, and refuses one that it does not have', () => {
    const { cases } = register((store) => store, ['renew', 'take']);
    const topics = new Set(cases.map(({ name }) => name.split(':')[0]));
    expect([...topics]).toEqual(['renew', 'takeover']);
    const wrong = (): unknown => register((store) => store, ['renewal']);
    expect(wrong).toThrow(/No topic begins with 'renewal'\. There are: traits; claim; /);
  });

  test('quotes the sentence of the contract that a failed case checks', async () => {
    const lame = (store: Store): Store => ({
      ...brokenStore(store),
      renew: async (claims) => claims.map(() => ({ state: 'gone', why: 'unknown' })),
    });
    const { cases } = register(lame, ['renew']);
    const outcomes = await Promise.allSettled(cases.map(({ body }) => body()));
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(failed.length).toBeGreaterThan(0);
    const contract = readFileSync('src/contract/store.ts', 'utf8').replace(/\n\s*\*\s/g, ' ');
    for (const { reason } of failed) {
      const [, quoted = '-'] = /\nThe contract says: (.*)$/.exec((reason as Error).message) ?? [];
      expect(contract).toContain(quoted);
    }
  });
});
