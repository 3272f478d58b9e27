/** Ours, with default options but for the TTL, which all contenders share. */
import { createLocks, type Locks, type Store } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { type Connect, type Connected, TTL_MS } from '../measuring/subject.ts';

/** For every store, by the names of the tables. */
export const OURS: { readonly holdfast: Connect; readonly 'holdfast, fair': Connect } = {
  holdfast: async (url) => locksOf(await open(url)),
  'holdfast, fair': async (url) => locksOf(await open(url), { fair: true }),
};

let verbs = 0;

/** How many verbs this process has called of stores that it opened. */
export function calls(): number {
  return verbs;
}

const COUNTED = ['claim', 'claimAll', 'renew', 'handOver', 'release', 'inspect', 'evict'] as const;

let memory: Promise<Store> | undefined;

/** Memory is one store, for all who open it. */
function open(url: string): Promise<Store> {
  if (url !== 'memory:') return opened(url);
  memory ??= opened(url);
  return memory;
}

/** The store, whose verbs are counted: no server does it for some. */
async function opened(url: string): Promise<Store> {
  const store = await openStore(url);
  for (const name of COUNTED) {
    const verb = store[name] as ((...args: unknown[]) => unknown) | undefined;
    if (!verb) continue;
    const counting = (...args: unknown[]): unknown => {
      verbs++;
      return verb.apply(store, args);
    };
    Object.assign(store, { [name]: counting });
  }
  return store;
}

/** With the TTL of all contenders. */
export async function locksAt(url: string): Promise<Locks> {
  return createLocks(await open(url), { ttl: TTL_MS });
}

interface OursOptions {
  readonly fair?: boolean;
  /** Closes the client, where it is not the store's own. */
  readonly end?: () => unknown;
}

export function locksOf(store: Store, { fair = false, end }: OursOptions = {}): Connected {
  const locks = createLocks(store, { ttl: TTL_MS });
  return {
    task: (resource) => {
      const lock = locks.mutex(resource, { fair });
      return async () => {
        const lease = await lock.acquire();
        return () => lease.release();
      };
    },
    close: async () => {
      await locks.close();
      await end?.();
    },
  };
}
