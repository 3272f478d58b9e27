/** A primary and its replica part: one dies, the other is promoted, or both live on. */
import { describe, test } from 'vitest';
import { MYSQL_CLIENTS } from '../../database-locks/clients.ts';
import { Belief, firstGrant } from '../../methods/faults/scene.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { type Pair, replicaFaults } from '../../methods/faults/sql-replicas.ts';
import { expectFenceHolds } from '../../methods/faults/two-believe.ts';
import type { MysqlServer } from '../../servers/mysql-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed, PRODUCTS } from './fault-bed.ts';

serversOfTheirOwn();

/** A promotion fits in, and two who believe can be looked at, on the busiest machine. */
const LONG_TTL_MS = paced(6000);

async function pair(bed: Bed): Promise<Pair<MysqlServer>> {
  const primary = await bed.server({ binlog: true });
  const between = bed.serve(await TcpProxy.start(primary.port));
  const standby = bed.serve(await primary.replica({ via: between.port }));
  await standby.inStep();
  return { primary, standby, between };
}

describe.concurrent.each(PRODUCTS)('a replica of %s', (_, start) => {
  replicaFaults({
    newBed: () => new Bed(start),
    pair,
    programs: (bed, address) =>
      (['mysql2', 'mariadb', 'mysql2'] as const).map((client) => bed.locks(address, { client })),
    called: 'replica',
  });

  test('is promoted beside a primary that lives on: two believe, and the fence holds', async () => {
    await using bed = new Bed(start);
    const { primary, standby } = await pair(bed);
    const shop = bed.serve(await start());
    const options = { maxTtl: LONG_TTL_MS };
    const lease = await patiently(bed.locks(primary, options).mutex('split'));
    await standby.inStep();
    await standby.promote();
    const belief = bed.use(new Belief(lease));
    const grant = await firstGrant(bed.store(standby, options), 'split');
    await until('believed both', async () => belief.lastHeldAt > grant.at);
    const { resource, lineage } = lease;
    const newest = { resource, lineage, token: grant.token * 1024n };
    await expectFenceHolds(bed.use(MYSQL_CLIENTS.mysql2!(shop.url)), lease, newest);
  });
});
