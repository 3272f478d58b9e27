/**
 * Claims that end by themselves where many live on one lease or in one session: what stores on etcd
 * and on ZooKeeper do alike.
 */
import type { Store } from 'holdfast';
import type { Claim, ClaimStatus } from 'holdfast/store';
import { expect } from 'vitest';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { type Bed, claimOf, LONG_TTL_MS, onServer, sleep } from './bed.ts';

/** Long enough to be renewed on a busy machine, and short enough to be waited for. */
export const TTL_MS: number = paced(3000);

export function mortal(resource: string): Claim {
  return claimOf(resource, { ttlMs: TTL_MS });
}

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

/** On servers that several use; that of a `generous` bed gives no life of less than 6 s. */
export function endsOfClaims(newBed: () => Bed, generous: () => Bed): void {
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

  const long = onServer(generous);

  long('a server that gives more than it was asked for is believed', async (bed, server) => {
    const [dying, other] = [bed.store(server), bed.store(server)];
    const [held, next] = [claimOf('a', { ttlMs: 2000 }), claimOf('a', { ttlMs: LONG_TTL_MS })];
    const [status] = await claim(dying, held);
    // Never more than was wanted, though the server keeps it for longer.
    expect(status).toMatchObject({ state: 'held' });
    expect((status as { leftMs: number }).leftMs).toBeLessThanOrEqual(2000);
    const began = performance.now();
    expect(await claim(other, next)).toMatchObject([{ state: 'waiting' }]);
    await dying.close?.();
    await getIn(other, next);
    // Less the second to which etcd counts.
    expect(performance.now() - began).toBeGreaterThan(5000);
  });
}
