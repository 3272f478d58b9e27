/** Arguments are read once, and what cannot be read or shown is a usage error like any other. */

import { inspect } from 'node:util';
import { createLocks, isLockError, type Lock, type Locks, parseDuration } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { createElection } from 'holdfast/election';
import { sqlFence } from 'holdfast/fence';
import { memoryStore } from 'holdfast/memory';
import { sqliteStore } from 'holdfast/sqlite';
import { describe, expect, it } from 'vitest';
import { setUp, watchOutcome } from '../support/scripted-store.ts';

function refused(call: () => unknown, what = String(call)): void {
  let thrown: unknown;
  try {
    call();
  } catch (error) {
    thrown = error;
  }
  expect(isLockError(thrown, 'USAGE'), `${what}: ${inspect(thrown)}`).toBe(true);
}

/** Says something else from the second time on. */
function fickle<T extends object>(options: T): { options: T; reads: () => number } {
  const reads = new Map<PropertyKey, number>();
  const proxy = new Proxy(options, {
    get(target, key) {
      const before = reads.get(key) ?? 0;
      reads.set(key, before + 1);
      return before === 0 ? Reflect.get(target, key) : Symbol('changed its mind');
    },
  });
  return { options: proxy, reads: () => Math.max(...reads.values()) };
}

describe('options', () => {
  const calls: Record<string, [object, (locks: Locks, options: never) => unknown]> = {
    mutex: [{ ttl: '1s', minHold: 5 }, (locks, how) => locks.mutex('a', how)],
    semaphore: [{ limit: 2, ttl: '1s' }, (locks, how) => locks.semaphore('a', how)],
    election: [{ seats: 2 }, (locks, how) => createElection(locks, 'a', how)],
    acquire: [{ wait: '1s', label: 'x' }, (locks, how) => locks.mutex('a').acquire(how)],
    run: [{ wait: '1s' }, (locks, how) => locks.mutex('a').run(how, () => 1)],
    'run of all': [{ wait: 9 }, (locks, how) => locks.all([locks.mutex('a')]).run(how, () => 1)],
    campaign: [{ label: 'x' }, (locks, how) => createElection(locks, 'a').campaign(how)],
    observe: [{ every: '1s' }, (locks, how) => createElection(locks, 'a').observe(how)],
    evict: [{ token: 1n, reason: 'x', now: true }, (locks, how) => locks.evict('a', how)],
    close: [{ drain: 0 }, (locks, how) => locks.close(how)],
  };
  for (const [what, [said, call]] of Object.entries(calls)) {
    it(`are read once: ${what}`, async () => {
      const { clock, locks } = setUp();
      const { options, reads } = fickle(said);
      const result = call(locks, options as never);
      const outcome = result instanceof Promise ? watchOutcome(result) : undefined;
      await clock.advance(20_000);
      expect(outcome?.error).toBeUndefined();
      expect(reads()).toBe(1);
    });
  }

  it('that an object inherits count', async () => {
    class Terms {
      get ttl(): number {
        return 500;
      }
    }
    const { clock, store, locks } = setUp();
    void locks.mutex('a', new Terms()).acquire();
    await clock.rest();
    expect(store.entered[0]?.ttlMs).toBe(500);
  });

  it('that cannot be read are a usage error that says why', () => {
    const { locks } = setUp();
    const cause = new Error('mine');
    const loud = Object.defineProperty({}, 'wait', {
      enumerable: true,
      get() {
        throw cause;
      },
    });
    expect(() => locks.mutex('a').acquire(loud)).toThrow(
      expect.objectContaining({ code: 'USAGE', cause }),
    );
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    refused(() => locks.mutex('a', proxy));
  });

  it('may be undefined before the work, but no function', async () => {
    const { clock, locks } = setUp();
    const ran = watchOutcome(locks.mutex('a').run(undefined as never, () => 1));
    await clock.rest();
    expect(ran.value).toBe(1);
    refused(() => locks.mutex('a').run((() => 1) as never, () => 2));
  });
});

describe('refused', () => {
  const shout = (): never => {
    throw new Error('shown');
  };

  it('is what cannot be shown, without being shown', () => {
    const { locks } = setUp();
    for (const value of [
      { [inspect.custom]: shout },
      Object.defineProperty({}, Symbol.toStringTag, { get: shout }),
      Object.create(null),
      Symbol('s'),
    ] as never[]) {
      refused(() => parseDuration(value));
      refused(() => locks.semaphore('a', { limit: value }));
      refused(() => locks.mutex('a').acquire({ permits: value }));
      refused(() => locks.on(value, () => {}));
    }
  });

  it('is a list of locks at its first wrong element, however long it is', () => {
    const { locks } = setUp();
    refused(() => locks.all(new Array(2 ** 32 - 1)));
    const { proxy, revoke } = Proxy.revocable([locks.mutex('a')], {});
    revoke();
    refused(() => locks.all(proxy));
    refused(() => locks.all([Object.create(Object.getPrototypeOf(locks.mutex('a')))]));
  });

  it('is a list of locks that changes while it is read', () => {
    const { locks } = setUp();
    const mutex = locks.mutex('a');
    let reads = 0;
    const list = new Proxy([mutex], {
      get(target, key) {
        if (key === '0' && reads++ > 0) return undefined;
        return Reflect.get(target, key) as Lock;
      },
    });
    locks.all(list);
    expect(reads).toBe(1);
  });

  it('is what only looks like a store, a fence, a lease or a URL', async () => {
    const { store } = setUp();
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
    const values: unknown[] = [
      null,
      Symbol('s'),
      -5n,
      ['sqlite'],
      { [inspect.custom]: shout, a: 1 },
    ];
    for (const call of calls)
      for (const value of values) refused(() => call(value as never), `${call} of ${typeof value}`);
    refused(() => createLocks({ ...store, claim: store.claim } as never));
    for (const url of [['memory:'], Symbol('s'), null]) {
      await expect(openStore(url as never)).rejects.toMatchObject({ code: 'USAGE' });
    }
  });

  it('is what only looks like a signal, half a surrogate pair, a clock in parts', () => {
    const { store, locks } = setUp();
    const signal = Object.create(AbortSignal.prototype) as AbortSignal;
    refused(() => locks.mutex('a').acquire({ signal }));
    refused(() => createElection(locks, 'a').observe({ signal }));
    refused(() => locks.list('\ud800'));
    refused(() => createLocks(store, { clock: { now: () => 0 } as never }));
  });
});
