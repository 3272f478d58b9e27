/** What happens around the blocks of the guide "Adding a store". */
import { memoryStore } from 'holdfast/memory';
import { expect } from 'vitest';
import type { Scenario } from './scenario.ts';

export const STORES: readonly Scenario[] = [
  {
    page: 'docs/guide/add-a-store.md',
    has: 'export function myStore',
    async after({ requests }, { myStore }) {
      const { traits } = memoryStore();
      const make = myStore as (url: string, of: typeof traits) => ReturnType<typeof memoryStore>;
      expect(await make('http://mine', traits).claim([])).toEqual([]);
      expect(requests).toMatchObject([{ url: 'http://mine' }]);
    },
  },
  { page: 'docs/guide/add-a-store.md', has: 'const etagStore =', uncalled: ['fetch'] },
  {
    page: 'docs/guide/add-a-store.md',
    has: 'documentsSuite({',
    before({ replaced }) {
      replaced['./etag-documents.ts'] = {};
    },
    after: ({ cases }) => expect(cases.length).toBeGreaterThan(5),
  },
  { page: 'docs/guide/add-a-store.md', has: 'admissible(queue)', prints: '1\n3\ntrue false' },
  {
    page: 'docs/guide/add-a-store.md',
    has: 'conformance({',
    async after({ cases }) {
      expect(cases.length).toBeGreaterThan(50);
      await cases[0]?.();
    },
  },
];
