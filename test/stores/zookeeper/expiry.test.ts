/**
 * Many claims live in one session of ZooKeeper, and each still ends as if it had its own: what the
 * suite, which knows no sessions, cannot try.
 */
import type { Store } from 'holdfast';
import type { Claim, ClaimStatus } from 'holdfast/store';
import { zookeeperClient } from 'holdfast/zookeeper';
import { expect, test } from 'vitest';
import { RightsSession } from '../../clients/zookeeper/rights.ts';
import { claimOf, inBeds, sleep } from '../../methods/faults/bed.ts';
import {
  beating,
  claim,
  endsOfClaims,
  getIn,
  holders,
  mortal,
  TTL_MS,
} from '../../methods/faults/expiry.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { type Counting, counting } from './clients.ts';
import { Bed, sharedServer } from './fault-bed.ts';

/** The sessions of `generous` are never shorter than 6 s, those of `strict` never longer than 4. */
const [server, generous, strict] = await Promise.all([
  sharedServer(),
  sharedServer({ config: ['minSessionTimeout=6000'] }),
  sharedServer({ config: ['maxSessionTimeout=4000'] }),
]);

const inBed = inBeds(() => new Bed(server));

function leftMsOf(status: ClaimStatus | undefined): number {
  expect(status).toMatchObject({ state: 'held' });
  return (status as { readonly leftMs: number }).leftMs;
}

/** In which sessions these claims live, the oldest first. */
async function sessionsOf(bed: Bed, ...resources: readonly string[]): Promise<bigint[]> {
  const nodes = await Promise.all(resources.map((resource) => bed.nodes(resource)));
  return nodes.flat().map(({ stat }) => stat.session);
}

function counted(bed: Bed): Counting & { readonly store: Store } {
  const all = counting(zookeeperClient(server.url));
  return { ...all, store: bed.storeOf(all.client) };
}

endsOfClaims(
  () => new Bed(server),
  () => new Bed(generous),
);

inBed('a claim is not held after it has ended, though its session lives', async (bed) => {
  const [store, other] = [bed.store(server), bed.store(server)];
  // Sessions of claims are apart by half a second, so these two share one.
  const keptMs = Math.ceil(paced(2000) / 500) * 500;
  const briefMs = keptMs - 300;
  const [brief, kept] = [claimOf('brief', { ttlMs: briefMs }), claimOf('kept', { ttlMs: keptMs })];
  await claim(store, brief, kept);
  expect(new Set(await sessionsOf(bed, 'brief', 'kept')).size).toBe(1);
  await sleep(0.6 * keptMs);
  await store.renew([kept]);
  // The session lives, the claim does not.
  await sleep(briefMs - 0.6 * keptMs + 100);
  expect(await store.renew([brief])).toEqual([{ state: 'gone', why: 'expired' }]);
  await until('was it free', async () => (await holders(other, 'brief')) === 0);
});

inBed('nobody is promised more than the server keeps, however old it is', async (bed) => {
  const { proxy } = await bed.behindProxy();
  const other = bed.store(server);
  const ages = [0, 300, 900, 1500, 2100];
  const promises = ages.map(async (age, n) => {
    const store = bed.store(proxy);
    await claim(store, mortal(`first${n}`));
    await sleep(age);
    const at = performance.now();
    const [status] = await claim(store, mortal(`r${n}`));
    // All have what they wanted.
    expect(leftMsOf(status)).toBeGreaterThan(TTL_MS * 0.75);
    return { at, leftMs: leftMsOf(status) };
  });
  const promised = await Promise.all(promises);
  proxy.set({ flow: 'swallow' });
  const granted = promised.map(async ({ at, leftMs }, n) => {
    const next = claimOf(`r${n}`);
    await claim(other, next);
    await getIn(other, next);
    expect(performance.now() - at).toBeGreaterThanOrEqual(leftMs);
  });
  await Promise.all(granted);
});

inBed('a release that does not arrive is sent again by the store itself', async (bed) => {
  const { proxy } = await bed.behindProxy();
  const [store, other] = [bed.store(proxy), bed.store(server)];
  // They would outlive the test.
  const [kept, left] = [claimOf('kept'), claimOf('left')];
  await claim(store, kept, left);
  proxy.refuse();
  proxy.toServer.set({ cutAfter: 0 });
  await expect(store.release([left])).rejects.toMatchObject({ code: 'STORE' });
  expect(await holders(other, 'left')).toBe(1);
  proxy.set();
  await proxy.accept();
  await beating(store, [], async () => (await holders(other, 'left')) === 0);
  expect(await store.renew([kept])).toMatchObject([{ state: 'held' }]);
});

inBed('a release that is refused is asked for again, now and then', async (bed) => {
  const { store, asked } = counted(bed);
  const session = bed.use(new RightsSession(server.url));
  const held = mortal('a');
  await claim(store, held);
  const queue = `${bed.path}/a`;
  const acl = await session.getAcl(queue);
  // All but to delete.
  await session.setAcl(queue, [{ scheme: 'world', id: 'anyone', perms: 1 + 2 + 4 + 16 }]);
  asked();
  await expect(store.release([held])).rejects.toMatchObject({ reason: 'NOAUTH' });
  // One after the other would be hundreds; a tenth of the session is between two.
  await sleep(1000);
  expect(asked().multi).toBeLessThan(10);
  await session.setAcl(queue, acl);
  const other = mortal('other');
  await claim(store, other);
  await beating(store, [other], async () => (await bed.nodes('a')).length === 0);
});

test.concurrent('a server that keeps sessions for less refuses, and says why', async () => {
  await using bed = new Bed(strict);
  const message = expect.stringMatching(/at most 4000 ms.* at most 2666 ms\. Raise maxSessionTime/);
  const refusal = { code: 'STORE', retryable: false, outcome: 'failed', message };
  const locks = bed.locksOn(bed.store(strict), 2700);
  await expect(locks.mutex('a').acquire()).rejects.toMatchObject(refusal);
  await expect(locks.mutex('a').tryAcquire()).rejects.toMatchObject(refusal);
  // Longer than the protocol has numbers for.
  const forWeeks = claimOf('a', { ttlMs: 20 * 86_400_000 });
  expect(await claim(bed.store(strict), forWeeks)).toMatchObject([{ error: refusal }]);
  // Who only looks has no use for a ttl.
  expect(await locks.inspect('a')).toMatchObject({ holders: [], waiters: [] });
  const shorter = bed.locksOn(bed.store(strict), 2666);
  const lease = await shorter.mutex('a').acquire();
  expect((await locks.inspect('a')).holders).toHaveLength(1);
  await lease.release();
});

inBed('two thousand claims are kept alive by a few requests', async (bed) => {
  const { store, asked, sessions } = counted(bed);
  const claims = Array.from({ length: 2000 }, (_, n) => claimOf(`r${n}`));
  const batches = Array.from({ length: 20 }, (_, n) => claims.slice(n * 100, n * 100 + 100));
  for (const batch of batches) await claim(store, ...batch);
  expect(sessions).toHaveLength(1);
  // Longer than a hold must be until it asks to be told what concerns it.
  await sleep(200);
  await store.renew([claims[0] as Claim]);
  asked();
  const statuses = (await Promise.all(batches.map((batch) => store.renew(batch)))).flat();
  expect(statuses.filter(({ state }) => state !== 'held')).toEqual([]);
  const { touch, ...others } = asked();
  expect(others).toEqual({ multi: batches.length });
  // One for all, where the session is no longer young.
  expect(touch ?? 0).toBeLessThanOrEqual(1);
  for (const batch of batches) await store.release(batch);
});

inBed('a claim that ends later does so in its own session, if that is long', async (bed) => {
  const [store, other] = [bed.store(server), bed.store(server)];
  const [held, next] = [claimOf('a'), claimOf('a')];
  await claim(store, held);
  await claim(other, next);
  const [before] = await sessionsOf(bed, 'a');
  const began = performance.now();
  const laterMs = paced(1500);
  expect(await store.release([held], { ms: laterMs })).toEqual([true]);
  expect((await sessionsOf(bed, 'a'))[0]).toBe(before);
  expect(await store.renew([held])).toEqual([{ state: 'gone', why: 'unknown' }]);
  await getIn(other, next);
  expect(performance.now() - began).toBeGreaterThanOrEqual(laterMs);
});

inBed('a claim that ends later outlives its process, and not by much', async (bed) => {
  const [dying, living, other] = [bed.store(server), bed.store(server), bed.store(server)];
  const [died, lived] = [mortal('died'), mortal('lived')];
  await claim(dying, died);
  await claim(living, lived);
  const before = await sessionsOf(bed, 'died', 'lived');
  const tokens = (await Promise.all(['died', 'lived'].map((name) => other.inspect(name)))).map(
    ({ holders: [holder] }) => holder?.number,
  );
  const next = [claimOf('died'), claimOf('lived')];
  expect(await claim(other, ...next)).toMatchObject([{ state: 'waiting' }, { state: 'waiting' }]);
  const began = performance.now();
  const afterwards = { ms: TTL_MS * 2 };
  await Promise.all([dying.release([died], afterwards), living.release([lived], afterwards)]);
  await dying.close?.();
  const after = await sessionsOf(bed, 'died', 'lived');
  expect(new Set([...before, ...after]).size).toBe(5);
  // It is the same claim.
  const [still] = (await other.inspect('died')).holders;
  expect(still?.number).toBe(tokens[0]);
  await until('held the next', async () => {
    const statuses = await other.renew(next);
    const early = performance.now() - began < afterwards.ms;
    if (early) expect(statuses).toMatchObject([{ state: 'waiting' }, { state: 'waiting' }]);
    return statuses.every(({ state }) => state === 'held');
  });
  expect(performance.now() - began).toBeGreaterThanOrEqual(afterwards.ms);
  expect(await other.renew(next)).toMatchObject(
    ['expired', 'released'].map((reason, n) => ({ takeover: { reason, token: tokens[n] } })),
  );
});
