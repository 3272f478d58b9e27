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

/** The store, whose verbs are counted: no server does it for some. */
async function open(url: string): Promise<Store> {
  const store = await openStore(url);
  const counting = <A extends unknown[], R>(verb: (...args: A) => R): ((...args: A) => R) => {
    return (...args) => {
      verbs++;
      return verb.apply(store, args);
    };
  };
  const { claim, renew, release, inspect } = store;
  return Object.assign(store, {
    ...{ claim: counting(claim), renew: counting(renew) },
    ...{ release: counting(release), inspect: counting(inspect) },
  });
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
