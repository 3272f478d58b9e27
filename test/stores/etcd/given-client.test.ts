/** A store on a client that its user has made, and goes on to use. */
import { createLocks } from 'holdfast';
import { etcdClient, etcdStore } from 'holdfast/etcd';
import { afterAll, expect, it } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { sharedServer } from './fault-bed.ts';

const server = await sharedServer();
const client = etcdClient(server.clientUrl);
afterAll(() => client.close());

it('is used by several stores, and closed by none', async () => {
  const locks = createLocks(etcdStore(client));
  const others = createLocks(etcdStore(client, { prefix: 'others/' }));
  const lease = await locks.mutex('a').acquire();
  await others.mutex('a').run(() => {
    expect(lease).toHaveProperty('held', true);
  });
  await others.close();
  await lease.release();
  await locks.close();
  expect((await client.txn({ success: [{ range: { key: 'holdfast/a/' } }] })).succeeded).toBe(true);
});

it('is asked for nothing more by a store that is closed', async () => {
  const store = etcdStore(client);
  await store.claim([claimOf('b')]);
  await store.close?.();
  const [status] = await store.claim([claimOf('b')]);
  expect(status).toMatchObject({ state: 'error', error: { code: 'STORE', outcome: 'failed' } });
});
