/** A waiter whose turn comes while it is to be ended: by then it is a holder. */
import { expect, test } from 'vitest';
import type { EtcdClient, Txn } from '../../../src/clients/etcd/client.ts';
import { etcdClient } from '../../../src/clients/etcd/etcd-client.ts';
import { claimOf } from '../../methods/faults/bed.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const server = await sharedServer();

/** A client that does something before it deletes this key for the first time. */
function before(key: string, act: () => Promise<unknown>): EtcdClient {
  const client = etcdClient(server.url);
  let acted = false;
  const deletes = ({ success }: Txn): boolean =>
    success.some((each) => 'delete' in each && each.delete.key === key);
  return {
    ...client,
    async txn(txn) {
      if (!acted && deletes(txn)) {
        acted = true;
        await act();
      }
      return client.txn(txn);
    },
  };
}

test.each([true, false])('whose turn has come holds; only if it waits: %s', async (waiting) => {
  await using bed = new Bed(server);
  const store = bed.store(server);
  const [first, second] = [claimOf('a'), claimOf('a')];
  await store.claim([first]);
  await store.claim([second]);
  const [{ number } = { number: 0n }] = (await store.inspect('a')).waiters;
  const key = bed.keys.claim('a', second.id);
  const other = bed.storeOf(before(key, () => store.release([first])));
  const evicted = await other.evict?.('a', number, { reason: 'test', now: false, waiting });
  expect(evicted).toBe(!waiting);
  // If it is evicted, it keeps others out until its TTL.
  expect((await store.inspect('a')).holders).toMatchObject([{ number }]);
  const [status] = await store.renew([second]);
  expect(status?.state).toBe(waiting ? 'held' : 'gone');
});
