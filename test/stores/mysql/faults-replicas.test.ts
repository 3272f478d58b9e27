/** A primary and its replica part: one dies, the other is promoted, or both live on. */
import { describe, expect, test } from 'vitest';
import { MYSQL_CLIENTS } from '../../database-locks/clients.ts';
import { RESTART_TTL_MS } from '../../methods/faults/bed.ts';
import { Crowd } from '../../methods/faults/crowd.ts';
import { Belief, firstGrant, patiently, Scene } from '../../methods/faults/scene.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { expectFenceHolds } from '../../methods/faults/two-believe.ts';
import type { MysqlServer } from '../../servers/mysql-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed, PRODUCTS } from './fault-bed.ts';

serversOfTheirOwn();

/** A promotion fits in, and two who believe can be looked at, on the busiest machine. */
const LONG_TTL_MS = paced(6000);

const RESOURCES = ['a', 'b', 'c'];

interface Pair {
  readonly primary: MysqlServer;
  readonly replica: MysqlServer;
  readonly between: TcpProxy;
}

async function pair(bed: Bed): Promise<Pair> {
  const primary = await bed.server({ binlog: true });
  const between = bed.serve(await TcpProxy.start(primary.port));
  const replica = bed.serve(await primary.replica({ via: between.port }));
  await replica.inStep();
  return { primary, replica, between };
}

describe.concurrent.each(PRODUCTS)('a replica of %s', (_, start) => {
  test('is promoted under load: nobody is granted what is held, and all get on', async () => {
    await using bed = new Bed(start);
    const { primary, replica } = await pair(bed);
    const address = bed.serve(await TcpProxy.start(primary.port));
    const clients = ['mysql2', 'mariadb', 'mysql2'] as const;
    const crowd = bed.use(
      new Crowd(
        clients.map((client) => bed.locks(address, { client })),
        RESOURCES,
      ),
    );
    await crowd.goesOn();
    await primary.kill();
    await replica.promote();
    address.lead(replica.port);
    await crowd.goesOn();
    await crowd.expectOrder();
    await bed.leave();
    await bed.expectNothingLeft(replica);
  });

  test('has a lease, which goes on when it is promoted', async () => {
    await using bed = new Bed(start);
    const { primary, replica } = await pair(bed);
    const address = bed.serve(await TcpProxy.start(primary.port));
    const ttl = RESTART_TTL_MS;
    const scene = await Scene.set(bed, { holder: address, others: address, ttl });
    await replica.inStep();
    await primary.kill();
    await replica.promote();
    address.lead(replica.port);
    await scene.renewedSince(performance.now());
    await scene.expectUndisturbed(0);
    await scene.leave(replica);
  });

  test('lacks a lease: once promoted, it makes all wait until the holder is told', async () => {
    await using bed = new Bed(start);
    const { primary, replica, between } = await pair(bed);
    between.set({ flow: 'swallow' });
    const belief = bed.use(new Belief(await patiently(bed.locks(primary).mutex('lacking'))));
    await primary.kill();
    await replica.promote();
    expect(await replica.query(`select * from ${bed.name}lock`)).toEqual([]);
    belief.expectBefore(await firstGrant(bed.store(replica), 'lacking'));
  });

  test('takes no locks, says why, and does when it is promoted', async () => {
    await using bed = new Bed(start);
    const { primary, replica } = await pair(bed);
    const refused = { code: 'STORE', retryable: true, outcome: 'failed' };
    const standing = { ...refused, message: expect.stringContaining('replica') };
    const attempt = bed.patientLocks(replica).mutex('a').tryAcquire();
    await expect(attempt).rejects.toMatchObject(standing);
    const waiting = patiently(bed.locks(replica).mutex('a'));
    await primary.kill();
    await replica.promote();
    await (await waiting).release();
  });

  test('is promoted beside a primary that lives on: two believe, and the fence holds', async () => {
    await using bed = new Bed(start);
    const { primary, replica } = await pair(bed);
    const shop = bed.serve(await start());
    const options = { maxTtl: LONG_TTL_MS };
    const lease = await patiently(bed.locks(primary, options).mutex('split'));
    await replica.inStep();
    await replica.promote();
    const belief = bed.use(new Belief(lease));
    const grant = await firstGrant(bed.store(replica, options), 'split');
    await until('believed both', async () => belief.lastHeldAt > grant.at);
    const { resource, lineage } = lease;
    const newest = { resource, lineage, token: grant.token * 1024n };
    await expectFenceHolds(bed.use(MYSQL_CLIENTS.mysql2!(shop.url)), lease, newest);
  });
});
