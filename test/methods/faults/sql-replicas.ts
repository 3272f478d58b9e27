/** A primary and its standby part: one dies, and the other is promoted. */
import type { Locks } from 'holdfast';
import { expect, test } from 'vitest';
import type { Client } from '../../database-locks/clients.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { RESTART_TTL_MS, type StoreOptions } from './bed.ts';
import { Crowd } from './crowd.ts';
import { Belief, firstGrant, Scene } from './scene.ts';
import type { SqlBed, SqlServer } from './sql-bed.ts';
import { expectFenceHolds } from './two-believe.ts';

/** A promotion fits in, and two who believe can be looked at, on the busiest machine. */
const LONG_TTL_MS = paced(6000);

export interface Replicated extends SqlServer {
  /** It has all that its primary has. */
  inStep(): Promise<void>;
  promote(): Promise<void>;
}

export interface Pair<At> {
  readonly primary: At;
  readonly standby: At;
  /** What the standby gets comes through it. */
  readonly between: TcpProxy;
}

type ReplicatedBed<Options extends StoreOptions = StoreOptions> = SqlBed<Options, Replicated>;

interface Replicas<Options extends StoreOptions> {
  newBed(): ReplicatedBed<Options>;
  pair(bed: ReplicatedBed<Options>): Promise<Pair<Replicated>>;
  /** Programs that go where the address leads, or find out who takes writes. */
  programs(
    bed: ReplicatedBed<Options>,
    address: TcpProxy,
    pair: Pair<Replicated>,
  ): readonly Locks[];
  /** What an error calls it. */
  readonly called: string;
}

export function replicaFaults<Options extends StoreOptions>(replicas: Replicas<Options>): void {
  test('is promoted under load: nobody is granted what is held, and all get on', async () => {
    await using bed = replicas.newBed();
    const pair = await replicas.pair(bed);
    const address = bed.serve(await TcpProxy.start(pair.primary.port));
    const crowd = bed.use(new Crowd(replicas.programs(bed, address, pair), ['a', 'b', 'c']));
    await crowd.goesOn();
    await pair.primary.kill();
    await pair.standby.promote();
    address.lead(pair.standby.port);
    await crowd.goesOn();
    await crowd.expectOrder();
    await bed.end(pair.standby);
  });

  test('has a lease, which goes on when it is promoted', async () => {
    await using bed = replicas.newBed();
    const { primary, standby } = await replicas.pair(bed);
    const address = bed.serve(await TcpProxy.start(primary.port));
    const ttl = RESTART_TTL_MS;
    const scene = await Scene.set(bed, { holder: address, others: address, ttl });
    await standby.inStep();
    await primary.kill();
    await standby.promote();
    address.lead(standby.port);
    await scene.renewedSince(performance.now());
    await scene.expectUndisturbed(0);
    await scene.leave(standby);
  });

  test('lacks a lease: once promoted, it makes all wait until the holder is told', async () => {
    await using bed = replicas.newBed();
    const { primary, standby, between } = await replicas.pair(bed);
    between.set({ flow: 'swallow' });
    const belief = bed.use(new Belief(await patiently(bed.locks(primary).mutex('lacking'))));
    await primary.kill();
    await standby.promote();
    expect(await bed.rows(standby, 'lock')).toEqual([]);
    const grant = await firstGrant(bed.store(standby), 'lacking');
    belief.expectBefore(grant);
  });

  test('takes no locks, says why, and does when it is promoted', async () => {
    await using bed = replicas.newBed();
    const { primary, standby } = await replicas.pair(bed);
    const refused = { code: 'STORE', retryable: true, outcome: 'failed' };
    const standing = { ...refused, message: expect.stringContaining(replicas.called) };
    const attempt = bed.patientLocks(standby).mutex('a').tryAcquire();
    await expect(attempt).rejects.toMatchObject(standing);
    const waiting = patiently(bed.locks(standby).mutex('a'));
    await primary.kill();
    await standby.promote();
    await (await waiting).release();
  });
}

/** The standby is promoted beside a primary that lives on: two believe, and the fence holds. */
export async function split(
  bed: ReplicatedBed,
  { primary, standby }: Pair<Replicated>,
  { shop, held }: { readonly shop: Client; held?(): Promise<void> },
): Promise<void> {
  const options = { maxTtl: LONG_TTL_MS };
  const lease = await patiently(bed.locks(primary, options).mutex('split'));
  await held?.();
  await standby.inStep();
  await standby.promote();
  const belief = bed.use(new Belief(lease));
  const grant = await firstGrant(bed.store(standby, options), 'split');
  await until('believed both', async () => belief.lastHeldAt > grant.at);
  const { resource, lineage } = lease;
  await expectFenceHolds(shop, lease, { resource, lineage, token: grant.token * 1024n });
}
