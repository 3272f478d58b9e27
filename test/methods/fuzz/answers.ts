/**
 * Core on a store that answers nonsense. Whatever it says, each request ends, with a result or a
 * documented error; a lease is held only as long as the store really has it; nothing is left; and
 * once the store is honest again, everything works.
 */

import fc from 'fast-check';
import {
  createLocks,
  downgrade,
  evict,
  type Lease,
  type LockErrorCode,
  type Locks,
  list,
} from 'holdfast';
import { once } from 'holdfast/once';
import { refresh } from 'holdfast/refresh';
import { FakeClock } from '../../support/fake-clock.ts';
import { GarbledStore, type Garblings, garblings } from './garbled-store.ts';
import { complain, type ProcessWatch, type Replay } from './process-watch.ts';
import { isTyped } from './world.ts';

const CODES: readonly LockErrorCode[] = [
  ...(['STORE', 'ACQUIRE_TIMEOUT', 'LEASE_LOST', 'MISMATCH', 'QUEUE_FULL', 'CLOSED'] as const),
  'REFRESH',
];

const WAIT = { wait: 3_000 };
const ONCE = { keepFor: '2s', keepResult: true } as const;

class Bed {
  readonly clock = new FakeClock();
  readonly store: GarbledStore;
  readonly locks: Locks;
  readonly leases: Lease[] = [];
  pending = 0;
  #over = false;

  constructor(how: Garblings) {
    this.store = new GarbledStore(this.clock, how);
    this.locks = createLocks(this.store, { clock: this.clock, ttl: '1s' });
  }

  /** Its end is waited for, and judged. */
  expect(promise: Promise<unknown>): void {
    this.pending++;
    promise.then(
      () => this.pending--,
      (error: unknown) => {
        this.pending--;
        if (!isTyped(error, CODES)) complain('an answer became an error of another sort', error);
      },
    );
  }

  keep(taken: Promise<Lease | null>): void {
    this.expect(
      taken.then((lease) => {
        if (lease) this.leases.push(lease);
        return this.#over ? lease?.release() : undefined;
      }),
    );
  }

  /** From now on the store is honest, and what is taken is given back. */
  recover(): void {
    this.#over = true;
    this.store.honest();
    for (const lease of this.leases) this.expect(lease.release());
  }

  lease(n: number): Lease | undefined {
    return this.leases[n % Math.max(1, this.leases.length)];
  }

  /** Nobody may believe to hold what the store has given to others or to nobody. */
  async rest(ms: number): Promise<void> {
    await this.clock.advance(ms);
    for (const lease of this.leases) {
      if (!lease.held) continue;
      const { holders } = await this.store.truth.inspect(lease.resource);
      const numbers = holders.map(({ number }) => number);
      if (lease.held && !numbers.includes(lease.token / 1024n)) complain('held, but not in truth');
    }
  }
}

type Deed = (bed: Bed, n: number) => unknown;

const PAUSES_MS = [0, 1, 30, 200, 700, 1_500, 4_000];

const DEEDS: Readonly<Record<string, Deed>> = {
  acquire: (bed, n) => bed.keep(bed.locks.mutex(`m${n % 2}`).acquire(WAIT)),
  'acquire fair': (bed, n) => bed.keep(bed.locks.mutex(`m${n % 2}`, { fair: true }).acquire(WAIT)),
  tryAcquire: (bed, n) => bed.keep(bed.locks.mutex(`m${n % 2}`).tryAcquire()),
  permits: (bed, n) =>
    bed.keep(bed.locks.semaphore('s', { limit: 3 }).acquire({ ...WAIT, permits: 1 + (n % 3) })),
  read: (bed) => bed.keep(bed.locks.rwLock('r').read.acquire(WAIT)),
  write: (bed) => bed.keep(bed.locks.rwLock('r').write.acquire(WAIT)),
  'with minHold': (bed) => bed.keep(bed.locks.mutex('h', { minHold: 300 }).acquire(WAIT)),
  'without heartbeat': (bed) => bed.keep(bed.locks.mutex('b', { heartbeat: false }).acquire(WAIT)),
  run: (bed, n) => bed.expect(bed.locks.mutex(`m${n % 2}`).run(WAIT, ({ token }) => token)),
  tryRun: (bed) => bed.expect(bed.locks.mutex('m0').tryRun(({ takeover }) => takeover)),
  once: (bed, n) => bed.expect(once(bed.locks, `o${n % 2}`, { ...ONCE, ...WAIT }, () => n)),
  refresh: (bed, n) =>
    bed.expect(refresh(bed.locks, 'f', { ...WAIT, read: () => undefined, load: () => n })),
  renew: (bed, n) => bed.expect(bed.lease(n)?.renew() ?? Promise.resolve()),
  release: (bed, n) => bed.expect(bed.lease(n)?.release() ?? Promise.resolve()),
  downgrade: (bed) => {
    const lease = bed.leases.find(({ kind, held }) => kind === 'write' && held);
    bed.expect(lease ? downgrade(lease) : Promise.resolve());
  },
  inspect: (bed, n) => bed.expect(bed.locks.inspect(`m${n % 2}`)),
  list: (bed) => bed.expect(readAll(list(bed.locks))),
  evict: (bed, n) => bed.expect(evict(bed.locks, 'm0', { token: BigInt(n) * 1024n, reason: 'x' })),
  listen: (bed) => bed.locks.on('acquired', ({ token, takeover }) => void [token, takeover]),
  rest: (bed) => bed.rest(0),
  pause: (bed, n) => bed.rest(PAUSES_MS[n % PAUSES_MS.length] ?? 0),
};

async function readAll(names: AsyncIterable<string>): Promise<void> {
  for await (const name of names) if (typeof name !== 'string') complain('a name that is no text');
}

const deeds = fc.array(fc.tuple(fc.constantFrom(...Object.keys(DEEDS)), fc.nat(9)), {
  minLength: 3,
  maxLength: 40,
  size: 'max',
});

/** Longer than every wait and every TTL, in ms. */
const LONG_MS = 12_000;

async function play(
  how: Garblings,
  steps: readonly (readonly [string, number])[],
): Promise<number> {
  const bed = new Bed(how);
  for (const [name, n] of steps) await DEEDS[name]?.(bed, n);
  await bed.rest(LONG_MS / 10);
  bed.recover();
  await bed.rest(LONG_MS);
  if (bed.pending > 0) complain(`${bed.pending} promises never settle`);
  const ran: unknown[] = [];
  for (const name of ['m0', 's', 'r', 'h', 'b', 'new']) {
    bed.expect(bed.locks.mutex(name).run(WAIT, () => ran.push(name)));
  }
  await bed.rest(LONG_MS);
  if (ran.length < 6) complain(`after the nonsense, only these can be taken: ${ran.join(', ')}`);
  bed.expect(bed.locks.close({ drain: 0 }));
  await bed.rest(LONG_MS);
  if (bed.pending > 0) complain('close never settles');
  if (bed.clock.timers > 0) complain(`${bed.clock.timers} timers are left`);
  return bed.store.garbled;
}

/** Plays until so many answers were garbled; throws fast-check's report if a run goes wrong. */
export async function playAnswers(
  answers: number,
  { seed, path }: Replay,
  watch: ProcessWatch,
): Promise<{ readonly answers: number; readonly runs: number }> {
  let garbled = 0;
  let runs = 0;
  for (let at = seed; garbled < answers; at++) {
    const property = fc.asyncProperty(garblings, deeds, async (how, steps) => {
      garbled += await play(how, steps);
      runs++;
      watch.check();
    });
    await fc.assert(property, { seed: at, ...(path === undefined ? { numRuns: 200 } : { path }) });
    if (path !== undefined) break;
  }
  return { answers: garbled, runs };
}
