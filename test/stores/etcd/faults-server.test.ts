/** The server dies, stands still, or forgets what was long ago. */
import { describe, expect, test } from 'vitest';
import { RESTART_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { Crowd } from '../../methods/faults/crowd.ts';
import { patiently, Scene } from '../../methods/faults/scene.ts';
import { loneServer } from '../../methods/faults/server.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import type { EtcdServer } from '../../servers/etcd-server.ts';
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

  test.concurrent('stands still for moments under load: nothing is lost, or doubled', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    const all = Array.from({ length: 4 }, () => bed.patientLocks(server));
    let losses = 0;
    for (const locks of all) locks.on('lost', () => losses++);
    const scene = await Scene.set(bed, { holder: server, others: server, ttl: RESTART_TTL_MS });
    const crowd = bed.use(new Crowd(all, ['a', 'b', 'c']));
    // Connections last; then they are given up, and requests with them; no lease dies.
    for (const pauseMs of [300, 1000, 4000]) {
      await crowd.goesOn();
      server.pause();
      await sleep(pauseMs);
      server.resume();
    }
    await crowd.goesOn();
    for (const name of ['a', 'b', 'c']) {
      // A release that was not answered is repeated a moment later.
      await until(`stood nobody twice in ${name}`, async () => {
        const { holders, waiters } = await all[0]!.inspect(name);
        return holders.length <= 1 && holders.length + waiters.length <= all.length;
      });
    }
    await crowd.expectOrder();
    expect(losses).toBe(0);
    await scene.expectUndisturbed(0);
    await scene.leave(server);
  });

  test.concurrent('compacts what was while somebody waits: he is told all the same', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    const scene = await Scene.set(bed, { holder: server, others: server, ttl: RESTART_TTL_MS });
    // It may not tell any more what has happened since the watches began.
    for (let i = 0; i < 3; i++) await compact(server);
    await scene.expectUndisturbed(0);
    await scene.leave(server);
  });

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
