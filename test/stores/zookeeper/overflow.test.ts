/**
 * Queues whose numbers are about to overflow. A server counts to 2147483647 and then gives that
 * number to all, or negative ones to those who come together.
 */
import { randomUUID } from 'node:crypto';
import type { Store } from 'holdfast';
import type { Claim, ClaimStatus, HeldStatus } from 'holdfast/store';
import { afterAll, expect, test } from 'vitest';
import { zookeeperClient } from '../../../src/clients/zookeeper/client.ts';
import type { Created } from '../../../src/clients/zookeeper/wire/requests.ts';
import { claimOf, inBeds, LONG_TTL_MS } from '../../methods/faults/bed.ts';
import { patiently } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import { ask, Bed, MUTEX, READ, SEAT, sharedServer, WRITE } from './fault-bed.ts';

/** The last number that a server gives. */
const LAST = 2 ** 31 - 1;
/** Queues are left alone from a number between these on. */
const FAR = LAST - 2 ** 16 - 3;
const NEAR = LAST - 2;

const KINDS = ['mutex', 'read', 'write'] as const;
const MARKS = { mutex: 'lock-', read: '__READ__', write: '__WRIT__' } as const;
const TERMS = { mutex: MUTEX, read: READ, write: WRITE } as const;

const COUNTERS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    KINDS.flatMap((kind) => [
      [`${kind} near`, NEAR],
      [`${kind} far`, FAR],
      [`${kind} negative`, -(2 ** 31) + 3],
      [`${kind} past`, -1],
    ]),
  ),
  ...{ empty: NEAR, crowd: NEAR, both: LAST - 3, half: 2 ** 30 - 3, played: 5 },
};

const counters = Object.entries(COUNTERS).map(([name, next]) => [`/holdfast/${name}`, next]);
const server = await sharedServer({ counters: Object.fromEntries(counters) });
const session = zookeeperClient(server.url).start();
afterAll(() => session.close());

const inBed = inBeds(() => new Bed(server));

/** Where those counters are. */
const AT = { path: '/holdfast' };

/** A claim of Curator's. */
async function stranger(name: string, kind: keyof typeof MARKS): Promise<Created> {
  const path = `/holdfast/${name}/_c_${randomUUID()}-${MARKS[kind]}`;
  return session.create(path, { kind: 'ephemeral-sequential' });
}

/** What the server added to the names of those who stand there. */
async function numbersIn(name: string): Promise<number[]> {
  const { children } = await session.getChildren(`/holdfast/${name}`);
  return children.map((child) => {
    const [, number] = /(?:lock-|__|permits-\d-of-\d-)(-?\d+)$/.exec(child) ?? [];
    return Number(number);
  });
}

const HELD = { state: 'held' };
const WAITING = { state: 'waiting' };
const REFUSED = { state: 'error', error: { code: 'STORE', retryable: true, outcome: 'failed' } };

/** It holds, and its token is above this one. */
function tokenAbove(last: bigint, status: ClaimStatus | undefined): bigint {
  expect(status).toMatchObject(HELD);
  const { token } = status as HeldStatus;
  expect(token).toBeGreaterThan(last);
  return token;
}

test.concurrent.each(KINDS)('no %s claim joins others at such numbers', async (kind) => {
  await using bed = new Bed(server);
  for (const place of ['near', 'negative']) {
    const name = `${kind} ${place}`;
    const store = bed.store(server, AT);
    const { path, stat } = await stranger(name, kind);
    for (let n = 0; n < 3; n++) {
      expect(await ask(store, claimOf(name, TERMS[kind]))).toMatchObject(REFUSED);
      expect(await numbersIn(name)).toHaveLength(1);
    }
    await session.delete(path);
    // Then it begins anew, and its tokens go on.
    const first = claimOf(name, TERMS[kind]);
    tokenAbove(stat.czxid, await ask(store, first));
    expect(await numbersIn(name)).toEqual([0]);
    expect(await ask(store, claimOf(name, TERMS.write))).toMatchObject(
      kind === 'mutex' ? { state: 'gone', why: 'mismatch' } : WAITING,
    );
    expect(await store.release([first])).toEqual([true]);
  }
});

test.concurrent.each(KINDS)('a queue of %s claims begins anew in time', async (kind) => {
  await using bed = new Bed(server);
  const name = `${kind} far`;
  const store = bed.store(server, AT);
  const numbers: number[] = [];
  let last = 0n;
  for (let n = 0; n < 12; n++) {
    const claim = claimOf(name, TERMS[kind]);
    last = tokenAbove(last, await ask(store, claim));
    numbers.push(...(await numbersIn(name)));
    await store.release([claim]);
  }
  const before = numbers.filter((number) => number > 12).length;
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(12);
  expect(numbers).toEqual([
    ...Array.from({ length: before }, (_, n) => FAR + n),
    ...Array.from({ length: 12 - before }, (_, n) => n),
  ]);
});

test.concurrent.each(KINDS)('a queue of %s claims that is past all that goes on', async (kind) => {
  await using bed = new Bed(server);
  const name = `${kind} past`;
  const store = bed.store(server, AT);
  const { path } = await stranger(name, kind);
  const claim = claimOf(name, TERMS[kind]);
  expect(await ask(store, claim)).toMatchObject(kind === 'read' ? HELD : WAITING);
  expect((await numbersIn(name)).sort((a, b) => a - b)).toEqual([-1, 0]);
  await session.delete(path);
  await until('was it admitted', async () => (await store.renew([claim]))[0]?.state === 'held');
});

inBed('who only tries gets in when nobody holds, and only then', async (bed) => {
  const mutex = bed.patientLocks(server, AT).mutex('empty');
  const { path } = await stranger('empty', 'mutex');
  expect(await mutex.tryAcquire()).toBeNull();
  await session.delete(path);
  const lease = await mutex.tryAcquire();
  expect(lease).toHaveProperty('held', true);
  expect(await numbersIn('empty')).toEqual([0]);
});

inBed('of a crowd that comes to such a queue everybody gets in, one by one', async (bed) => {
  let [inside, turns, last] = [0, 0, 0n];
  const come = async (): Promise<void> => {
    const lock = bed.patientLocks(server, AT).mutex('crowd');
    for (let n = 0; n < 5; n++) {
      const lease = await patiently(lock);
      inside++;
      turns++;
      expect(inside).toBe(1);
      expect(lease.token).toBeGreaterThan(last);
      last = lease.token;
      await lease.renew();
      inside--;
      await lease.release();
    }
  };
  await Promise.all(Array.from({ length: 8 }, come));
  expect(turns).toBe(40);
  expect(Math.max(-1, ...(await numbersIn('crowd')))).toBeLessThan(100);
});

/** Whoever leaves lets in the next one, to the last. */
async function expectInTurn(store: Store, claims: readonly Claim[], limit: number): Promise<void> {
  const queue = await store.inspect(claims[0]?.resource ?? '');
  const hosts = claims.map(({ holder }) => holder.since);
  expect([...queue.holders, ...queue.waiters].map(({ holder }) => holder.since)).toEqual(hosts);
  let token = 0n;
  for (const [n, claim] of claims.entries()) {
    const next = claims[n + limit];
    token = tokenAbove(token, (await store.renew([claim]))[0]);
    if (next) expect((await store.renew([next]))[0]).toMatchObject(WAITING);
    await store.release([claim]);
    if (!next) continue;
    await until('was it admitted', async () => (await store.renew([next]))[0]?.state === 'held');
  }
}

function seats(name: string, count: number): Claim[] {
  return Array.from({ length: count }, (_, since) =>
    claimOf(name, { ...SEAT, holder: { host: 'test', pid: 1, since } }),
  );
}

test.concurrent.each(['both', 'half'])('permits keep their order: %s', async (name) => {
  await using bed = new Bed(server);
  const store = bed.store(server, AT);
  const claims = seats(name, 12);
  // In this order, at once, so that a server names some while others are on their way.
  await Promise.all(claims.map((claim) => ask(store, claim)));
  const numbers = await numbersIn(name);
  // How many are on their way together decides whether numbers repeat or are negative.
  const overflowed = new Set(numbers).size < numbers.length || Math.min(...numbers) < 0;
  expect(overflowed).toBe(name === 'both');
  await expectInTurn(store, claims, 2);
});

inBed('permits that stand across the overflow are in the order of arrival', async (bed) => {
  const paths: string[] = [];
  for (const number of [LAST, LAST - 1, LAST, -(2 ** 31) + 1, -(2 ** 31)]) {
    const uuid = randomUUID().replace(/^(.{14})4/, '$18');
    const holder = { host: 'test', pid: 1, since: paths.length };
    const data = JSON.stringify({ ttl: LONG_TTL_MS, holder });
    const path = `/holdfast/played/_c_${uuid}-permits-1-of-2-${number}`;
    await session.create(path, { kind: 'ephemeral', data: Buffer.from(data) });
    paths.push(path);
  }
  const store = bed.store(server, AT);
  const claim = claimOf('played', { ...SEAT, holder: { host: 'test', pid: 1, since: 5 } });
  expect(await ask(store, claim)).toMatchObject({ ...WAITING, ahead: 5 });
  for (const [n, path] of paths.entries()) {
    const { holders, waiters } = await store.inspect('played');
    expect([...holders, ...waiters].map(({ holder }) => holder.since)).toEqual(
      [0, 1, 2, 3, 4, 5].slice(n),
    );
    expect(holders.length).toBe(2);
    expect((await store.renew([claim]))[0]?.state).toBe(n === 4 ? 'held' : 'waiting');
    await session.delete(path);
  }
  expect((await store.renew([claim]))[0]).toMatchObject(HELD);
});
