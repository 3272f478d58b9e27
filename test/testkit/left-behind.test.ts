/** What a case of the conformance suite leaves behind when it fails. */
import type { Store } from 'holdfast';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LOCKS } from '../methods/conformance/locks/topics.ts';
import { register } from './registered-cases.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

beforeEach(() => void process.on('unhandledRejection', note));
afterEach(() => void process.off('unhandledRejection', note));

it('is told in no other place than the case', async () => {
  // Each evicts a holder while somebody waits, whom the end of the case then tells that it is over.
  const broken = (store: Store): Store => Object.assign(store, { evict: async () => false });
  const { cases } = register(broken, ['mutex, loss'], LOCKS);
  const evicting = cases.filter(({ name }) => /evicted/.test(name));
  const outcomes = await Promise.allSettled(evicting.map(({ body }) => body()));
  expect(outcomes.map(({ status }) => status)).toContain('rejected');
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});
