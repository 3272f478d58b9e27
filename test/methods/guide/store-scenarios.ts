/** What happens around the blocks of the guide "Adding a store". */
import { memoryStore } from 'holdfast/memory';
import { expect } from 'vitest';
import { ofPage, type Scenario } from './scenario.ts';

export const STORES: readonly Scenario[] = ofPage('docs/guide/add-a-store.md', {
  'export function myStore': {
    async after({ requests }, { myStore }) {
      const { traits } = memoryStore();
      const make = myStore as (url: string, of: typeof traits) => ReturnType<typeof memoryStore>;
      expect(await make('http://mine', traits).claim([])).toEqual([]);
      expect(requests).toMatchObject([{ url: 'http://mine' }]);
    },
  },
  'const etagStore =': { uncalled: ['fetch'] },
  'documentsSuite({': {
    before({ replaced }) {
      replaced['./etag-documents.ts'] = {};
    },
    after: ({ cases }) => expect(cases.length).toBeGreaterThan(5),
  },
  'admissible(queue)': { prints: '1\n3\ntrue false' },
  'const base =': {
    before({ replaced }) {
      replaced['./etag-documents.ts'] = { etagStore: () => memoryStore() };
    },
    after: ({ cases }) => expect(cases.length).toBeGreaterThan(50),
  },
  "describe('my store'": {
    async after({ cases }) {
      expect(cases.length).toBeGreaterThan(50);
      await cases[0]?.();
    },
  },
});
