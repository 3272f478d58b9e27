/** Lost and late requests and replies. The store itself is real; only the network is bad. */
import assert from 'node:assert/strict';
import { StoreError } from '../../contract/errors.ts';
import type { Topic } from '../case.ts';
import { countingStore } from '../counting-store.ts';
import { type FaultyStore, faultyStore } from '../faulty-store.ts';
import type { LockOf } from '../lock-of.ts';
import type { TestBed } from '../test-bed.ts';

const BROKEN = new StoreError('The connection broke.', { retryable: true, outcome: 'unknown' });
const BUSY = new StoreError('Busy.', { retryable: true, outcome: 'failed' });
const REFUSED = new StoreError('Bad request.', { retryable: false, outcome: 'failed' });

export function doubt({ name, of }: LockOf): Topic {
  return {
    topic: `${name}, doubt`,
    needs: ['queue'],
    cases: [
      {
        name: 'a claim whose answer is lost is asked again by the same id: one claim',
        async run(bed) {
          for (const answer of ['never', BROKEN] as const) {
            const { store, locks } = faulty(bed);
            store.inject({ verb: 'claim', answer, times: 1 });
            const lease = await of(locks, bed.name(String(answer))).acquire();
            const { holders, waiters } = await bed.look(lease.resource);
            assert.deepEqual([lease.held, holders.length, waiters.length], [true, 1, 0]);
          }
        },
      },
      {
        name: 'a claim that is lost on its way is sent again',
        async run(bed) {
          const { store, locks } = faulty(bed);
          store.inject({ verb: 'claim', arrives: 'never', answer: 'never', times: 1 });
          store.inject({ verb: 'claim', arrives: 'never', answer: BUSY, times: 1 });
          assert.ok((await of(locks, bed.name()).acquire()).held);
        },
      },
      {
        name: 'a lease got by asking again counts from the claim that arrived first',
        async run(bed) {
          const { store, locks, ttl } = faulty(bed);
          store.inject({ verb: 'claim', answer: 'never', times: 1 });
          const lease = await of(locks, bed.name(), { heartbeat: false }).acquire();
          // Core gave up the first request after a third of the TTL; most of that passed after it
          // had arrived, even on a machine under load.
          assert.ok(lease.remainingMs <= ttl * 0.85, `${lease.remainingMs} of ${ttl} ms`);
        },
      },
      {
        name: 'an error that will not pass ends the wait and leaves nothing behind',
        async run(bed) {
          const { store, locks } = faulty(bed);
          const heal = store.inject({ verb: 'claim', arrives: 'never', answer: REFUSED });
          const lock = of(locks, bed.name());
          await assert.rejects(lock.acquire(), (error) => error === REFUSED);
          await assert.rejects(lock.tryAcquire(), (error) => error === REFUSED);
          heal();
          assert.ok((await lock.acquire()).held);
        },
      },
      {
        name: 'a store that stays away ends the wait with a store error',
        async run(bed) {
          const { store, locks } = faulty(bed);
          store.inject({ verb: 'claim', arrives: 'never', answer: BUSY });
          await assert.rejects(of(locks, bed.name()).acquire(), { code: 'STORE' });
        },
      },
      {
        name: 'a claim that arrives after its wait was given up leaves nothing behind',
        async run(bed) {
          const { store, locks } = faulty(bed);
          store.inject({ verb: 'claim', arrives: { lateMs: 100 }, answer: 'never' });
          const aborter = new AbortController();
          const wait = bed.later(of(locks, bed.name()).acquire({ signal: aborter.signal }));
          await bed.sleep(20);
          aborter.abort(new Error('enough'));
          await assert.rejects(wait, /enough/);
          // Past the late arrival.
          await bed.sleep(150);
          assert.equal((await bed.look()).holders.length, 0);
        },
      },
      {
        name: 'a copy of a claim that arrives after the release leaves nothing behind',
        async run(bed) {
          const { store, locks, ttl } = faulty(bed);
          const lateMs = ttl / 2;
          store.inject({ verb: 'claim', arrives: { lateMs }, answer: 'never', times: 1 });
          const lease = await of(locks, bed.name()).acquire();
          await lease.release();
          // Past the late arrival.
          await bed.sleep(lateMs);
          assert.equal((await bed.look()).holders.length, 0);
        },
      },
      {
        name: 'a heartbeat whose answer is lost extends nothing',
        async run(bed) {
          const { store, locks } = faulty(bed);
          const lease = await of(locks, bed.name()).acquire();
          const before = lease.remainingMs;
          store.inject({ verb: 'renew', answer: BROKEN });
          await bed.until('the heartbeat was in doubt', () => lease.state === 'unconfirmed');
          assert.ok(lease.held);
          assert.ok(lease.remainingMs < before);
          await bed.until('the lease was lost', () => !lease.held);
          assert.equal(lease.loss?.reason, 'expired');
        },
      },
      {
        name: 'one failed heartbeat is doubt, and the next one dispels it',
        async run(bed) {
          const { store, locks } = faulty(bed);
          const events: string[] = [];
          locks.on('unconfirmed', ({ remainingMs, cause }) => {
            events.push(`unconfirmed ${remainingMs > 0} ${cause?.message}`);
          });
          locks.on('lost', () => events.push('lost'));
          const lease = await of(locks, bed.name()).acquire();
          store.inject({ verb: 'renew', arrives: 'never', answer: BUSY, times: 1 });
          await bed.until('it was in doubt', () => events.length > 0);
          await bed.until('it was held again', () => lease.state === 'held');
          assert.deepEqual(events, ['unconfirmed true Busy.']);
        },
      },
      {
        name: 'with all heartbeats lost, the lease is lost before another can be granted it',
        async run(bed) {
          const { store, locks } = faulty(bed);
          const lease = await of(locks, bed.name()).acquire();
          const { signal } = lease;
          const next = bed.later(of(bed.locks(), bed.name()).acquire());
          await bed.untilItWaits();
          store.inject({ verb: 'renew', arrives: 'never', answer: 'never' });
          await next;
          assert.equal(lease.held, false);
          assert.equal(lease.loss?.reason, 'expired');
          // If this process stood still, the timer is late; the microtask after a read aborts.
          await Promise.resolve();
          assert.equal(signal.aborted, true);
        },
      },
      {
        name: 'a heartbeat that is answered after the deadline revives nothing',
        async run(bed) {
          const { store, locks, ttl } = faulty(bed);
          const lease = await of(locks, bed.name()).acquire();
          store.inject({ verb: 'renew', answer: { lateMs: 1.5 * ttl } });
          await bed.until('the lease was lost', () => !lease.held);
          await bed.sleep(1.5 * ttl);
          assert.deepEqual([lease.held, lease.state], [false, 'lost']);
        },
      },
      {
        name: 'a wait outlives heartbeats that fail for a while',
        async run(bed) {
          const { store, locks } = faulty(bed);
          const first = await of(bed.locks(), bed.name()).acquire();
          const wait = bed.later(of(locks, bed.name()).acquire());
          await bed.untilItWaits();
          store.inject({ verb: 'renew', arrives: 'never', answer: BUSY, times: 2 });
          await bed.quiet();
          await first.release();
          assert.ok((await wait).held);
        },
      },
      {
        name: 'a failed release is repeated until the store has heard it',
        async run(bed) {
          const { store, locks } = faulty(bed, 10_000);
          const lease = await of(locks, bed.name()).acquire();
          store.inject({ verb: 'release', arrives: 'never', answer: BUSY, times: 2 });
          await lease.release();
          assert.equal(lease.held, false);
          const from = bed.clock.now();
          await bed.until('it was free', async () => (await bed.look()).holders.length === 0);
          assert.ok(bed.clock.now() - from < 9_000, 'it did not have to expire');
        },
      },
      {
        name: 'a failed release hides neither the value nor the error of the work',
        async run(bed) {
          const { store, locks } = faulty(bed);
          store.inject({ verb: 'release', arrives: 'never', answer: REFUSED });
          assert.equal(await of(locks, bed.name('value')).run(() => 42), 42);
          const error = new Error('work');
          const run = of(locks, bed.name('error')).run(() => Promise.reject(error));
          await assert.rejects(run, (caught) => caught === error);
        },
      },
      {
        name: 'a release without an answer is not waited for longer than the lease could last',
        async run(bed) {
          for (const minHold of [0, 200]) {
            const { store, locks } = faulty(bed);
            const lease = await of(locks, bed.name(`${minHold}`), { minHold }).acquire();
            store.inject({ verb: 'release', arrives: 'never', answer: 'never' });
            await lease.release();
          }
        },
      },
      {
        name: 'one poisonous claim does not hurt those that travel with it',
        async run(bed) {
          const { store, locks } = faulty(bed);
          const poison = bed.name('3');
          const only = ({ resource }: { resource: string }) => resource === poison;
          store.inject({ verb: 'claim', arrives: 'never', answer: REFUSED, only });
          const first = of(locks, bed.name('first')).acquire();
          const crowd = Array.from({ length: 8 }, (_, i) => of(locks, bed.name(`${i}`)).acquire());
          const [outcomes] = await Promise.all([Promise.allSettled(crowd), first]);
          assert.deepEqual(
            outcomes.map(({ status }) => status === 'fulfilled'),
            [true, true, true, false, true, true, true, true],
          );
        },
      },
      {
        name: 'one poisonous heartbeat does not hurt those that travel with it',
        async run(bed) {
          const { store, locks } = faulty(bed);
          const [poisoned, healthy] = await Promise.all([
            of(locks, bed.name('a')).acquire(),
            of(locks, bed.name('b')).acquire(),
          ]);
          const only = ({ resource }: { resource: string }) => resource === poisoned.resource;
          store.inject({ verb: 'renew', arrives: 'never', answer: REFUSED, only });
          await bed.until('the poisoned lease was lost', () => !poisoned.held);
          assert.ok(healthy.held);
        },
      },
      {
        name: 'without hints the heartbeats bring the news',
        needs: ['watch'],
        async run(bed) {
          const { store, locks } = faulty(bed);
          store.inject({ verb: 'watch', arrives: 'never', answer: REFUSED });
          const first = await of(bed.locks(), bed.name()).acquire();
          const wait = bed.later(of(locks, bed.name()).acquire());
          await bed.untilItWaits();
          await first.release();
          assert.ok((await wait).held);
        },
      },
      {
        name: 'a try is told apart from a look that fails',
        async run(bed) {
          const { store, locks } = faulty(bed);
          await of(bed.locks(), bed.name()).acquire();
          for (const answer of [BUSY, 'never'] as const) {
            store.inject({ verb: 'inspect', arrives: 'never', answer, times: 1 });
            const result = await of(locks, bed.name()).tryRun(() => assert.fail('it ran'));
            assert.ok(!result.acquired && result.why === 'held');
            assert.deepEqual(result.holders, []);
          }
        },
      },
      {
        name: 'locks close although the store does not answer',
        async run(bed) {
          const { store, locks } = faulty(bed);
          await of(locks, bed.name()).acquire();
          store.inject({ verb: 'release', arrives: 'never', answer: 'never' });
          store.inject({ verb: 'renew', arrives: 'never', answer: 'never' });
          await locks.close({ drain: 50 });
        },
      },
      {
        name: 'retries pause, so that a broken store is not hammered',
        async run(bed) {
          const counting = countingStore(bed.store);
          const store = faultyStore(counting, bed.clock);
          store.inject({ verb: 'claim', answer: BROKEN });
          const locks = bed.locks({ ttl: 5 * bed.ttlMs }, store);
          const wait = of(locks, bed.name()).acquire({ wait: 2 * bed.ttlMs });
          await assert.rejects(wait, { code: 'ACQUIRE_TIMEOUT' });
          const { requests } = counting.count('claim');
          assert.ok(requests > 1 && requests < 40, `${requests} requests`);
        },
      },
    ],
  };
}

/** Locks on a store that a case can break. The TTL leaves room for three tries under load. */
function faulty(bed: TestBed, ttl: number = 5 * bed.ttlMs): Broken {
  const store = faultyStore(bed.store, bed.clock);
  return { store, ttl, locks: bed.locks({ ttl }, store) };
}

interface Broken {
  readonly store: FaultyStore;
  readonly locks: ReturnType<TestBed['locks']>;
  readonly ttl: number;
}
