/** An etcd that is another one than before. */
import { etcdStore } from 'holdfast/etcd';
import { expect, test } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { startEtcd } from '../../servers/etcd-server.ts';
import { closing } from '../../support/closing.ts';

test('that has lost its data is told from one that comes back', async () => {
  const server = closing(await startEtcd());
  const store = closing(etcdStore(server.clientUrl));
  const claim = claimOf('a');
  const [first] = await store.claim([claim]);
  for (const name of ['d', 'e', 'f']) await store.claim([claimOf(name)]);
  await server.restart();
  expect(await store.renew([claim])).toMatchObject([{ state: 'held' }]);
  await server.kill();
  server.wipe();
  await server.start();
  // Its first revisions, and so its tokens, were given out before, by a cluster of this name.
  const { lineage } = store;
  const [again] = await store.claim([claimOf('b')]);
  expect(again).toMatchObject({ state: 'error', error: { code: 'STORE', retryable: false } });
  await expect(store.inspect('a')).rejects.toMatchObject({ retryable: false });
  const fresh = closing(etcdStore(server.clientUrl));
  const [other] = await fresh.claim([claimOf('c')]);
  expect(fresh.lineage).toBe(lineage);
  expect([first, other]).toMatchObject([{ state: 'held' }, { state: 'held' }]);
});
