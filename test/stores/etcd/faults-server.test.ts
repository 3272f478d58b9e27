/** The server dies, stands still, or forgets what was long ago. */
import { describe, expect, test } from 'vitest';
import { loneServer } from '../../methods/faults/server.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import type { EtcdServer } from '../../servers/etcd-server.ts';
import { patiently } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

/** From now on it tells nothing of what was before. */
async function compact(server: EtcdServer): Promise<void> {
  const json = await server.etcdctl('put', 'x', 'y', '--write-out=json');
  const { header } = JSON.parse(json) as { readonly header: { readonly revision: number } };
  await server.etcdctl('compact', `${header.revision}`);
}

describe.concurrent('a server', () => {
  loneServer(() => new Bed());

  test.concurrent('dies, and compacts before the watches are back: nobody is lost', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    // They outlive the test: only what is heard or read lets the other one in.
    const [holding, waiting] = [bed.patientLocks(server), bed.patientLocks(server)];
    const lease = await patiently(holding.mutex('a'));
    const next = patiently(waiting.mutex('a'));
    await until('did it wait', async () => (await waiting.inspect('a')).waiters.length === 1);
    const oldest = ['--sort-by=CREATE', '--limit=1', '--keys-only', '--prefix'];
    const claim = await server.etcdctl('get', ...oldest, `${bed.prefix}a/`);
    await server.kill();
    await server.start();
    await server.etcdctl('del', claim.trim());
    await compact(server);
    expect((await next).token).toBeGreaterThan(lease.token);
    await (await next).release();
  });
});
