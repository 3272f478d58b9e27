/** Locks and elections that are shared with etcd's own program, and so with programs in Go. */
import { evict, type Lock, type Locks, list } from 'holdfast';
import { createElection } from 'holdfast/election';
import type { EtcdOptions } from 'holdfast/etcd';
import { expect, test } from 'vitest';
import { claimOf, inBeds, sleep, stand } from '../../methods/faults/bed.ts';
import { listed } from '../../support/listed.ts';
import { patiently } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import { Etcdctl } from './etcdctl.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const server = await sharedServer();

const inBed = inBeds(() => new Both());

/** Two sides of the same queues. */
class Both extends Bed {
  /** As etcd's program has it. */
  readonly name: string = `lock of ${this.prefix.slice(0, -1)}`;

  ours(options: EtcdOptions = { prefix: '' }): Locks {
    return this.patientLocks(server, options);
  }

  theirs(...args: readonly string[]): Etcdctl {
    return this.use(new Etcdctl(server, ...args));
  }
}

/** Nobody else gets what is held while so much passes: far longer than a message takes. */
const MOMENT_MS = 300;

inBed('a mutex is the lock of the same name, in the order of arrival', async (bed) => {
  const { name } = bed;
  const locks = bed.ours();
  const first = await patiently(locks.mutex(name));
  const second = bed.theirs('lock', name);
  await stand(locks, name, 1, 1);
  const third = patiently(bed.ours().mutex(name));
  await stand(locks, name, 1, 2);
  const fourth = bed.theirs('lock', name);
  await stand(locks, name, 1, 3);
  expect(await locks.mutex(name).tryAcquire()).toBeNull();
  await sleep(MOMENT_MS);
  expect(second.said).toEqual([]);
  await first.release();
  await second.holds(name);
  await sleep(MOMENT_MS);
  expect(await Promise.race([third, undefined])).toBeUndefined();
  expect(fourth.said).toEqual([]);
  await second.stop();
  const lease = await third;
  expect(lease.token).toBeGreaterThan(first.token);
  await sleep(MOMENT_MS);
  expect(fourth.said).toEqual([]);
  await lease.release();
  await fourth.holds(name);
  await fourth.stop();
  await stand(locks, name, 0, 0);
});

inBed('a lock whose program was killed is free after its lease', async (bed) => {
  const { name } = bed;
  const locks = bed.ours();
  const killed = bed.theirs('lock', '--ttl=2', name);
  await killed.holds(name);
  const [{ number = 0n } = {}] = (await locks.inspect(name)).holders;
  const next = patiently(locks.mutex(name));
  await stand(locks, name, 1, 1);
  await killed.close();
  const lease = await next;
  expect(lease.takeover).toEqual({ reason: 'expired', token: number });
  expect(lease.token).toBeGreaterThan(number);
});

test.concurrent.each([
  { prefix: 'team/locks/', name: 'plain', key: 'team/locks/plain' },
  { prefix: '', name: 'with/slash', key: 'with%2Fslash' },
  { prefix: '', name: '100 %', key: '100 %25' },
  { prefix: '', name: 'grüß 🔒', key: 'grüß 🔒' },
])('$name behind $prefix is the lock $key', async ({ prefix, name, key }) => {
  await using bed = new Both();
  const locks = bed.ours({ prefix });
  const holder = bed.theirs('lock', key);
  await holder.holds(key);
  expect(await locks.mutex(name).tryAcquire()).toBeNull();
  expect(await listed(list(locks, name))).toEqual([name]);
  await holder.stop();
  await (await patiently(locks.mutex(name))).release();
});

inBed('the locks below a name are none of its own', async (bed) => {
  const { name } = bed;
  const locks = bed.ours();
  // More than are read of a queue at first.
  const below = Array.from({ length: 5 }, (_, n) => bed.theirs('lock', `${name}/${n}`));
  await Promise.all(below.map((each, n) => each.holds(`${name}/${n}`)));
  const lease = await locks.mutex(name).acquire();
  await stand(locks, name, 1, 0);
  expect(await locks.mutex(name).tryAcquire()).toBeNull();
  const next = patiently(bed.ours().mutex(name));
  await stand(locks, name, 1, 1);
  await lease.release();
  await (await next).release();
  const { read } = locks.rwLock(name);
  await (await read.acquire()).release();
  await stand(locks, name, 0, 0);
  expect(await listed(list(locks, name))).toEqual([]);
});

inBed('among readers and permits, one of etcd has everything alone', async (bed) => {
  const locks = bed.ours();
  const kinds: Readonly<Record<string, (name: string) => Lock>> = {
    books: (name) => bed.ours().rwLock(name).read,
    seats: (name) => bed.ours().semaphore(name, { limit: 5 }),
  };
  for (const [kind, lock] of Object.entries(kinds)) {
    const name = `${kind} of ${bed.name}`;
    const enter = () => patiently(lock(name));
    const before = [await enter(), await enter()];
    const stranger = bed.theirs('lock', name);
    await stand(locks, name, 2, 1);
    const after = [enter(), enter()];
    await stand(locks, name, 2, 3);
    for (const each of before) await each.release();
    await stranger.holds(name);
    await stand(locks, name, 1, 2);
    await stranger.stop();
    for (const each of await Promise.all(after)) await each.release();
    await stand(locks, name, 0, 0);
  }
});

inBed('etcdctl sees our leader and our campaign, and we see its candidates', async (bed) => {
  const { name } = bed;
  const locks = bed.ours();
  const observer = bed.theirs('elect', '--listen', name);
  const told: (string | undefined)[] = [];
  const tells = (label: string | undefined): Promise<void> =>
    until(`was it told of ${label}`, async () => told.length > 0 && told.at(-1) === label);
  const enough = new AbortController();
  const observing = (async () => {
    const options = { every: 20, signal: enough.signal };
    for await (const { leaders } of createElection(bed.ours(), name).observe(options)) {
      const [leader] = leaders;
      if (told.at(-1) !== leader?.holder.label) told.push(leader?.holder.label);
    }
  })();
  const ours = createElection(locks, name).campaign({ label: 'ours' });
  await until('did it lead', async () => ours.state === 'leader');
  await observer.says((text) => text.includes('"label":"ours"'));
  await tells('ours');
  const theirs = bed.theirs('elect', name, 'theirs');
  await stand(locks, name, 1, 1);
  const again = createElection(bed.ours(), name).campaign({ label: 'again' });
  await stand(locks, name, 1, 2);
  const { leaders, standbys } = await createElection(locks, name).standings();
  expect([...leaders, ...standbys].map(({ holder }) => holder.label)).toEqual([
    ...['ours', 'theirs', 'again'],
  ]);
  await ours.resign();
  await observer.says((text) => text === 'theirs');
  await theirs.says((text) => text === 'theirs');
  await tells('theirs');
  expect(again.state).toBe('standby');
  await theirs.stop();
  await until('did the next one lead', async () => again.state === 'leader');
  await observer.says((text) => text.includes('"label":"again"'));
  await tells('again');
  await again.resign();
  await tells(undefined);
  enough.abort();
  await observing;
  expect(told).toEqual(['ours', 'theirs', 'again', undefined]);
});

inBed('strangers are shown, and what nobody reads as a claim is one', async (bed) => {
  const { name } = bed;
  const locks = bed.ours();
  const holder = bed.theirs('lock', '--ttl=20', name);
  await holder.holds(name);
  for (const [n, value] of ['{', '{"kind":"mutex"}', '[1]', 'text'].entries()) {
    await server.etcdctl('put', `${name}/${n}`, value);
  }
  const { holders, waiters } = await locks.inspect(name);
  expect(holders).toMatchObject([{ kind: 'mutex', holder: { host: 'etcd' } }]);
  expect(holders[0]?.ttlMs).toBeGreaterThan(0);
  expect(holders[0]?.ttlMs).toBeLessThanOrEqual(20_000);
  expect(waiters.map(({ holder: { label } }) => label)).toEqual([
    ...['{', '{"kind":"mutex"}', '[1]', 'text'],
  ]);
  expect(await locks.mutex(name).tryAcquire()).toBeNull();
});

inBed('a stranger can be evicted: at once, or after its life', async (bed) => {
  const { name } = bed;
  const locks = bed.ours();
  const [now, later] = [name, `${name} later`];
  for (const each of [now, later]) {
    const holder = bed.theirs('lock', '--ttl=2', each);
    await holder.holds(each);
    const next = patiently(locks.mutex(each));
    await stand(locks, each, 1, 1);
    const [{ number: token = 0n } = {}] = (await locks.inspect(each)).holders;
    await evict(locks, each, { token, reason: 'it hangs', now: each === now });
    // The program lives, and keeps its own lease alive all the time.
    const lease = await next;
    expect(lease.takeover).toEqual({ reason: 'evicted', token });
    expect(lease.token).toBeGreaterThan(token);
    await holder.stop();
    expect(lease).toHaveProperty('held', true);
    await stand(locks, each, 1, 0);
    await lease.release();
  }
});

inBed('the claim of a lock can be read, and ends when it is deleted', async (bed) => {
  const { name } = bed;
  const store = bed.store(server, { prefix: '' });
  const claim = claimOf(name);
  const [status] = await store.claim([claim]);
  const [key, value] = (await server.etcdctl('get', '--prefix', `${name}/`)).split('\n');
  expect(key).toBe(`${name}/${claim.id}`);
  expect(JSON.parse(value ?? '')).toMatchObject({ kind: 'mutex', holder: { host: 'test' } });
  const json = await server.etcdctl('get', '--prefix', `${name}/`, '--write-out=json');
  const { kvs } = JSON.parse(json) as { kvs: { create_revision: number }[] };
  expect(status).toMatchObject({ state: 'held', token: BigInt(kvs[0]?.create_revision ?? 0) });
  await server.etcdctl('del', key ?? '');
  expect(await store.renew([claim])).toEqual([{ state: 'gone', why: 'expired' }]);
});
