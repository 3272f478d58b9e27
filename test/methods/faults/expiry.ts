/**
 * Claims that end by themselves where many live on one lease or in one session: what stores on etcd
 * and on ZooKeeper do alike.
 */
import type { Store } from 'holdfast';
import type { Claim, ClaimStatus } from 'holdfast/store';
import { expect } from 'vitest';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { type Bed, claimOf, hasWaiter, LONG_TTL_MS, onServer, sleep } from './bed.ts';
import { patiently } from './scene.ts';

/** Long enough to be renewed on a busy machine, and short enough to be waited for. */
export const TTL_MS: number = paced(3000);

export async function claim(store: Store, ...claims: readonly Claim[]): Promise<ClaimStatus[]> {
  return [...(await store.claim(claims))];
}

export async function holders(store: Store, resource: string): Promise<number> {
  return (await store.inspect(resource)).holders.length;
}

/** Beats for them until `over`. */
export async function beating(
  store: Store,
  claims: readonly Claim[],
  over: () => boolean | Promise<boolean>,
): Promise<void> {
  await until('was it over', async () => {
    const statuses = await store.renew(claims);
    expect(statuses.map(({ state }) => state)).toEqual(claims.map(() => 'held'));
    await sleep(TTL_MS / 10);
    return over();
  });
}

/** Beats for those that wait until all of them hold. */
export async function getIn(store: Store, ...claims: readonly Claim[]): Promise<void> {
  await until(`held ${claims[0]?.resource}`, async () => {
    return (await store.renew(claims)).every(({ state }) => state === 'held');
  });
}

/** The server is one that several use at a time. */
export function endsOfClaims(newBed: () => Bed): void {
  const it = onServer(newBed);

  it('all that a process held is free when it has gone without a word', async (bed, server) => {
    const [dying, other] = [bed.store(server), bed.store(server)];
    const claims = Array.from({ length: 50 }, (_, n) => claimOf(`r${n}`, { ttlMs: TTL_MS }));
    await claim(dying, ...claims);
    await dying.close?.();
    const next = claims.map(({ resource }) => claimOf(resource, { ttlMs: LONG_TTL_MS }));
    expect(new Set((await claim(other, ...next)).map(({ state }) => state))).toEqual(
      new Set(['waiting']),
    );
    await getIn(other, ...next);
  });

  it('a waiter that nobody renews ends, and does not stand in the way', async (bed, server) => {
    const [store, other] = [bed.store(server), bed.store(server)];
    const terms = { ttlMs: TTL_MS };
    const [held, left, next] = [claimOf('a', terms), claimOf('a', terms), claimOf('a')];
    await claim(store, held);
    await claim(store, left);
    expect(await claim(other, next)).toMatchObject([{ state: 'waiting', ahead: 2 }]);
    await beating(store, [held], async () => (await store.inspect('a')).waiters.length === 1);
    await store.release([held]);
    await getIn(other, next);
  });

  it('whoever waited learns whether the one before was released or died', async (bed, server) => {
    const dying = bed.store(server);
    const waiting = bed.locks(server);
    const held = claimOf('died', { ttlMs: TTL_MS });
    const [status] = await claim(dying, held);
    const afterDeath = patiently(waiting.mutex('died'));
    await hasWaiter(waiting, 'died');
    await dying.close?.();
    const first = await patiently(bed.patientLocks(server).mutex('released'));
    const afterRelease = patiently(waiting.mutex('released'));
    await hasWaiter(waiting, 'released');
    await first.release();
    const { token } = status as { token: bigint };
    expect((await afterRelease).takeover).toEqual({ reason: 'released', token: first.token });
    expect((await afterDeath).takeover).toEqual({ reason: 'expired', token: token * 1024n });
  });
}
