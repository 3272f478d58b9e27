/** What a case of the conformance suite leaves behind when it fails. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { register } from './registered-cases.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

beforeEach(() => void process.on('unhandledRejection', note));
afterEach(() => void process.off('unhandledRejection', note));

it('is told in no other place than the case', async () => {
  // Each evicts a holder while somebody waits, whom the end of the case then tells that it is over.
  const { cases } = register((store) => Object.assign(store, { evict: async () => false }));
  const evicting = cases.filter(({ name }) => /mutex, loss: .*evicted/.test(name));
  const outcomes = await Promise.allSettled(evicting.map(({ body }) => body()));
  expect(outcomes.map(({ status }) => status)).toContain('rejected');
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});
