/** What each kind of lock of Redisson has of its own, shared with the real one. */
import { createLocks, downgrade, type Locks } from 'holdfast';
import { type RedissonOptions, redissonStore } from 'holdfast/redisson';
import { afterAll, describe, expect, it } from 'vitest';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { LONG, NEW, PATIENCE_MS, RedissonBed } from './bed.ts';
import { OPTIONS } from './open.ts';

const bed = await RedissonBed.start({ program: 'redis', version: NEW });
afterAll(() => bed.close());

function locksWith(options: RedissonOptions): Locks {
  return createLocks(redissonStore(bed.client, { ...OPTIONS, ...options }));
}

describe('a mutex', () => {
  it('entered twice in Java is free once it was left twice', async () => {
    const java = await bed.javaHolds('mutex', 'twice');
    await java.acquire('mutex', 'twice', { lease: LONG });
    await java.release('mutex', 'twice');
    expect(await bed.ours('mutex', 'twice').tryAcquire()).toBeNull();
    expect(await java.ask('hold-count', 'mutex', 'twice')).toBe('1');
    const ours = bed.ours('mutex', 'twice').acquire();
    await java.release('mutex', 'twice');
    await (await ours).release();
  });

  it.each(['holdfast:!notes:a', 'redisson_lock_token:{a}'])(
    'is no key beside those of locks: %s',
    async (name) => {
      const refused = { cause: { code: 'USAGE' }, outcome: 'failed' };
      await expect(bed.ours('mutex', name).acquire()).rejects.toMatchObject(refused);
    },
  );

  it('never lacks an end, and leaves only the record of the store', async () => {
    const lease = await bed.ours('mutex', 'alone').acquire();
    expect(await bed.client.pttl('alone')).toBeGreaterThan(0);
    const [owner = ''] = await bed.client.hkeys('alone');
    expect(owner).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}:1$/);
    await lease.release();
    expect(await bed.client.exists('alone', 'holdfast:!notes:alone')).toBe(0);
  });

  it('held in Java is shown with its owner', async () => {
    const java = await bed.javaHolds('mutex', 'shown');
    const [owner = ''] = await bed.client.hkeys('shown');
    const { holders } = await bed.locks.inspect('shown');
    expect(holders.map(({ holder }) => holder.label)).toEqual([
      `Redisson ${owner.replace(/[^\w: -]/g, '?')}`,
    ]);
    await java.release('mutex', 'shown');
  });

  it('that minHold keeps is told to be free by the end of its key', async () => {
    const lock = bed.locks.mutex('kept', { minHold: paced(500), ttl: LONG });
    await (await lock.acquire()).release();
    const java = bed.java.thread();
    expect(await java.acquire('mutex', 'kept', { wait: 0 })).toBe(false);
    expect(await java.acquire('mutex', 'kept', { wait: PATIENCE_MS })).toBe(true);
    await java.release('mutex', 'kept');
  });

  it.each(['a{b}c', 'ключ'])('has the name %s on both sides', async (name) => {
    const java = await bed.javaHolds('mutex', name);
    const ours = bed.ours('mutex', name).acquire();
    await java.release('mutex', name);
    await (await ours).release();
  });

  it('has the name that a NameMapper gives it', async () => {
    await using locks = locksWith({ key: (name) => `app:${name}` });
    const java = await bed.javaHolds('mutex', 'app:mapped');
    expect(await locks.mutex('mapped').tryAcquire()).toBeNull();
    await java.release('mutex', 'app:mapped');
  });

  it('tells of another limit only where it is lower', async () => {
    const told: string[] = [];
    const off = bed.locks.on('mismatch', ({ detail }) => told.push(detail));
    for (const limit of [2, 2, 3]) {
      const lease = await bed.locks.semaphore('limited', { limit }).acquire();
      await lease.release();
    }
    off();
    expect(told).toEqual(['the limit in force is 2, not 3']);
  });

  it('is refused where a lock of another kind is in use', async () => {
    const java = await bed.javaHolds('read', 'mixed');
    await expect(bed.ours('mutex', 'mixed').tryAcquire()).rejects.toMatchObject({
      code: 'MISMATCH',
    });
    await java.release('read', 'mixed');
  });
});

describe('a fenced lock', () => {
  it('numbers the holders of both sides in one order', async () => {
    await using locks = locksWith({ mutex: 'fenced' });
    const java = bed.java.thread();
    const tokens: bigint[] = [];
    for (let i = 0; i < 3; i++) {
      const lease = await locks.mutex('fenced').acquire();
      // The rest numbers the hand-offs within one claim.
      tokens.push(lease.token / 1024n);
      await lease.release();
      await java.acquire('fenced', 'fenced', { lease: LONG });
      tokens.push(BigInt(await java.ask('token', 'fenced')));
      await java.release('fenced', 'fenced');
    }
    expect(tokens).toEqual([1n, 2n, 3n, 4n, 5n, 6n]);
  });

  it('has no readers and no permits', async () => {
    await using locks = locksWith({ mutex: 'fenced' });
    const denied = { code: 'UNSUPPORTED', trait: 'permits' };
    await expect(locks.rwLock('f').read.acquire()).rejects.toMatchObject(denied);
  });
});

describe('a read-write lock', () => {
  it('lets readers of both sides in together, and wakes the writer with the last', async () => {
    const java = bed.java.thread();
    const ours = await bed.ours('read', 'book').acquire();
    expect(await java.acquire('read', 'book', { wait: 0, lease: LONG })).toBe(true);
    const writer = bed.java.thread().acquire('write', 'book', { lease: LONG });
    const order: string[] = [];
    const got = writer.then(() => order.push('writer'));
    await ours.release();
    expect(await bed.ours('write', 'book').tryAcquire()).toBeNull();
    order.push('last reader');
    await java.release('read', 'book');
    await got;
    expect(order).toEqual(['last reader', 'writer']);
  });

  it('of which Java leaves first is left to our readers', async () => {
    const java = await bed.javaHolds('read', 'novel');
    const ours = await bed.ours('read', 'novel').acquire();
    await java.release('read', 'novel');
    expect(await bed.java.thread().acquire('write', 'novel', { wait: 0 })).toBe(false);
    const writer = bed.java.thread().acquire('write', 'novel', { lease: LONG });
    await ours.release();
    expect(await writer).toBe(true);
  });

  it("lets a dead reader's hold end, whoever leaves last", async () => {
    const short = bed.locks.rwLock('tale', { ttl: paced(500), heartbeat: false }).read;
    const dead = await short.acquire();
    const java = await bed.javaHolds('read', 'tale');
    await dead.ended;
    await java.release('read', 'tale');
    // Its time on the server is over a moment later than here.
    await (await bed.ours('write', 'tale').acquire({ wait: PATIENCE_MS })).release();
  });

  it('is free for writers of both sides once its only reader has died', async () => {
    const short = bed.locks.rwLock('saga', { ttl: paced(500), heartbeat: false }).read;
    await (await short.acquire()).ended;
    const java = bed.java.thread();
    expect(await java.acquire('write', 'saga', { wait: PATIENCE_MS })).toBe(true);
    await java.release('write', 'saga');
    await (await short.acquire()).ended;
    await (await bed.ours('write', 'saga').acquire({ wait: PATIENCE_MS })).release();
  });

  it('with a writer of ours wakes readers in Java', async () => {
    const ours = await bed.ours('write', 'diary').acquire();
    const readers = [1, 2].map(() => bed.java.thread().acquire('read', 'diary', { lease: LONG }));
    await ours.release();
    expect(await Promise.all(readers)).toEqual([true, true]);
  });

  it('with a writer of ours wakes a thread in Java that is about to sleep', async () => {
    const proxy = await TcpProxy.start(bed.server.port, 'SUBSCRIBE');
    await using java = await bed.javaBehind(proxy);
    const ours = await bed.ours('write', 'story').acquire();
    // The thread was refused, and does not learn that it listens.
    proxy.toClient.set({ flow: 'hold', on: 'marked' });
    const acquired = java.thread().acquire('write', 'story', { wait: PATIENCE_MS, lease: LONG });
    await until('did it listen', async () => (await bed.listeners('write', 'story')) > 1);
    const scripts = await bed.scripts();
    // It learns that, is refused once more, and does not learn of it.
    proxy.toClient.set({ flow: 'hold', on: 'others' });
    await until('was it refused again', async () => (await bed.scripts()) > scripts);
    await ours.release();
    await bed.heard(java, 'write', 'story');
    proxy.toClient.set();
    expect(await acquired).toBe(true);
    proxy.close();
  });

  it('whose writer of ours becomes a reader lets readers of both sides in alone', async () => {
    const lease = await bed.ours('write', 'letter').acquire();
    const java = bed.java.thread();
    const reading = java.acquire('read', 'letter', { lease: LONG });
    await bed.javaSleeps('read', 'letter');
    const writing = bed.java.thread().acquire('write', 'letter', { lease: LONG });
    await downgrade(lease);
    expect(await reading).toBe(true);
    expect(await bed.ours('write', 'letter').tryAcquire()).toBeNull();
    await (await bed.ours('read', 'letter').acquire()).release();
    // Again, as after a lost reply; and a heartbeat, which finds a reader.
    await downgrade(lease);
    await java.release('read', 'letter');
    expect(lease).toHaveProperty('held', true);
    expect(await bed.java.thread().acquire('write', 'letter', { wait: 0 })).toBe(false);
    await lease.release();
    expect(await writing).toBe(true);
  });

  it('whose reader was a writer of ours lives by its own time', async () => {
    const { write } = bed.locks.rwLock('note', { ttl: paced(500), heartbeat: false });
    const lease = await write.acquire();
    await downgrade(lease);
    await lease.ended;
    const java = bed.java.thread();
    expect(await java.acquire('write', 'note', { wait: PATIENCE_MS, lease: LONG })).toBe(true);
    await java.release('write', 'note');
  });

  it('whose writer in Java becomes a reader lets our readers in, and no writer', async () => {
    const java = await bed.javaHolds('write', 'parcel');
    await java.acquire('read', 'parcel', { lease: LONG });
    expect(await bed.ours('read', 'parcel').tryAcquire()).toBeNull();
    await java.release('write', 'parcel');
    const lease = await bed.ours('read', 'parcel').acquire();
    expect(await bed.ours('write', 'parcel').tryAcquire()).toBeNull();
    await java.release('read', 'parcel');
    await lease.release();
    await (await bed.ours('write', 'parcel').acquire()).release();
  });
});

describe('a permit-expirable semaphore', () => {
  it('gives both sides as many permits as there are', async () => {
    await bed.java.thread().ask('set-permits', 'seats', '3');
    const java = bed.java.thread();
    const three = bed.locks.semaphore('seats', { limit: 3, ttl: LONG });
    const two = await three.acquire({ permits: 2 });
    expect(await java.acquire('permit', 'seats', { wait: 0, lease: LONG })).toBe(true);
    expect(await three.tryAcquire()).toBeNull();
    const one = three.acquire();
    await java.release('permit', 'seats');
    await (await one).release();
    await two.release();
    expect(await java.ask('available', 'seats')).toBe('3');
  });

  it('has as many as the first program says', async () => {
    const lease = await bed.locks.semaphore('rooms', { limit: 2 }).acquire();
    expect(await bed.java.thread().ask('set-permits', 'rooms', '5')).toBe('false');
    const { limit } = await bed.locks.inspect('rooms');
    expect(limit).toBe(2);
    await lease.release();
  });

  it('takes a thousand permits at once, and more are refused unsent', async () => {
    const halls = bed.locks.semaphore('halls', { limit: 2000 });
    await (await halls.acquire({ permits: 1000 })).release();
    await expect(halls.acquire({ permits: 1001 })).rejects.toMatchObject({
      ...{ cause: { code: 'USAGE' }, outcome: 'failed' },
    });
  });

  it('takes the permits of the dead back', async () => {
    const semaphore = bed.locks.semaphore('beds', { limit: 1, ttl: paced(500), heartbeat: false });
    const dead = await semaphore.acquire();
    await dead.ended;
    const java = bed.java.thread();
    const terms = { wait: PATIENCE_MS, lease: paced(500) };
    expect(await java.acquire('permit', 'beds', terms)).toBe(true);
    await (await bed.ours('permit', 'beds').acquire()).release();
  });
});
