/** Lock servers of the reader's own making, each with a store in memory, and stores on them. */
import type { Store } from 'holdfast';
import { type MemoryStoreOptions, memoryStore } from 'holdfast/memory';
import type { Module } from './blocks.ts';

export function newServices(): Module {
  const served = new Map<string, Store>();
  return {
    async startServer(options: { readonly maxWaiters: number }) {
      const url = `http://server-${served.size}`;
      served.set(url, memoryStore(options));
      return { url, close: async () => void served.delete(url) };
    },
    myStore: (at?: string | MemoryStoreOptions) =>
      typeof at === 'string' ? plain(served.get(at) ?? memoryStore()) : memoryStore(at),
  };
}

/** What every store can do. */
function plain(store: Store): Store {
  return {
    name: 'my-store',
    traits: { ...store.traits, records: false, hintsGrant: false },
    get lineage() {
      return store.lineage;
    },
    claim: (claims) => store.claim(claims),
    renew: (claims) => store.renew(claims),
    release: (claims, after) => store.release(claims, after),
    inspect: (resource) => store.inspect(resource),
  };
}
