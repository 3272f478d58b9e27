/** Arguments that are wrong are usage errors, whatever they are. */
import { inspect } from 'node:util';
import { createLocks, isLockError } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { createElection } from 'holdfast/election';
import { sqlFence } from 'holdfast/fence';
import { memoryStore } from 'holdfast/memory';
import { sqliteStore } from 'holdfast/sqlite';
import { zookeeperStore } from 'holdfast/zookeeper';
import { describe, expect } from 'vitest';
import { it, setUp, watchOutcome } from '../support/scripted-store.ts';

function refused(call: () => unknown, what = String(call)): void {
  let thrown: unknown;
  try {
    call();
  } catch (error) {
    thrown = error;
  }
  expect(isLockError(thrown, 'USAGE'), `${what}: ${inspect(thrown)}`).toBe(true);
}

describe('options', () => {
  it('count that an object inherits, that is frozen, or that has no prototype', async () => {
    class Terms {
      get ttl(): number {
        return 500;
      }
    }
    const { clock, store, locks } = setUp();
    const bare = Object.assign(Object.create(null) as object, { ttl: 500 });
    for (const terms of [new Terms(), Object.freeze({ ttl: 500 }), bare]) {
      void locks.mutex('a', terms).acquire();
    }
    await clock.rest();
    expect(store.entered.map(({ ttlMs }) => ttlMs)).toEqual([500]);
  });

  it('may be undefined before the work, but no function', async ({ clock, locks }) => {
    const ran = watchOutcome(locks.mutex('a').run(undefined as never, () => 1));
    await clock.rest();
    expect(ran.value).toBe(1);
    refused(() => locks.mutex('a').run((() => 1) as never, () => 2));
  });
});

describe('refused', () => {
  it('is what only looks like a store, a fence, a lease or a URL', async ({ store }) => {
    const connection = {
      prepare: () => ({ get: () => ({}) }),
      exec: () => {},
      inTransaction: true,
    };
    const lease = { resource: 'a', lineage: 'x', token: 1n };
    const fence = sqlFence({ dialect: 'sqlite' });
    fence.enter(connection, lease);
    const calls: ((value: never) => unknown)[] = [
      (value) => createLocks(value),
      (value) => createLocks({ ...store, watch: value } as never),
      (value) => memoryStore(value),
      (maxWaiters) => memoryStore({ maxWaiters }),
      (clock) => memoryStore({ clock }),
      (quarantine) => memoryStore({ quarantine }),
      (value) => sqliteStore('x.db', value),
      (maxWaiters) => sqliteStore('x.db', { maxWaiters }),
      (maxWaiters) => zookeeperStore('zookeeper://h', { maxWaiters }),
      (value) => sqlFence(value),
      (dialect) => sqlFence({ dialect }),
      (table) => sqlFence({ dialect: 'sqlite', table }),
      (value) => fence.enter(value, lease),
      (value) => fence.enter(connection, value),
      (resource) => fence.enter(connection, { ...lease, resource }),
      (lineage) => fence.adopt(connection, { ...lease, lineage }),
      (token) => fence.enter(connection, { ...lease, token }),
      (kind) => fence.enter(connection, { ...lease, kind }),
    ];
    const values: unknown[] = [null, Symbol('s'), -5n, ['sqlite'], { a: 1 }];
    for (const call of calls)
      for (const value of values) refused(() => call(value as never), `${call} of ${typeof value}`);
    refused(() => createLocks({ ...store, claim: store.claim } as never));
    refused(() => zookeeperStore('zookeeper://h', { path: '/zookeeper/a' }));
    for (const url of [['memory:'], Symbol('s'), null, undefined]) {
      await expect(openStore(url as never)).rejects.toMatchObject({ code: 'USAGE' });
    }
  });

  it('is what only looks like a signal, or a clock', ({ store, locks }) => {
    const signal = { aborted: false, addEventListener: () => {} } as never;
    refused(() => locks.mutex('a').acquire({ signal }));
    refused(() => createElection(locks, 'a').observe({ signal }));
    refused(() => createLocks(store, { clock: { now: () => 0 } as never }));
  });
});
