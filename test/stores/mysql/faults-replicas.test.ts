/** A primary and its replica part: one dies, the other is promoted, or both live on. */
import { describe, test } from 'vitest';
import { MYSQL_CLIENTS } from '../../database-locks/clients.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { type Pair, replicaFaults, split } from '../../methods/faults/sql-replicas.ts';
import type { MysqlServer } from '../../servers/mysql-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { Bed, PRODUCTS } from './fault-bed.ts';

serversOfTheirOwn();

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
    const both = await pair(bed);
    const { url } = bed.serve(await start());
    await split(bed, both, { shop: bed.use(MYSQL_CLIENTS.mysql2!(url)) });
  });
});
