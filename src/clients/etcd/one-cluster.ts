/**
 * A client as one of its users sees it: until that user closes it, it reaches one cluster.
 *
 * Refuses any cluster but the first, and one that has lost its data: it would give out the same
 * revisions, and so tokens, again. An etcd that restarts without its data may have the same name as
 * before, so the revision is checked as well: that of a later reply is never smaller.
 */
import { Answer } from '../../base/answer.ts';
import { StoreError } from '../../contract/errors.ts';
import { closed } from '../wire.ts';
import type { EtcdClient, EtcdReply } from './client.ts';

export interface OneCluster extends EtcdClient {
  /** Known after the first reply. */
  readonly cluster: bigint | undefined;
}

/** `owned`: closed with it. */
export function oneCluster(client: EtcdClient, owned: boolean): OneCluster {
  let over = false;
  let cluster: bigint | undefined;
  let revision = 0n;
  const open = (): EtcdClient => {
    if (over) throw closed('etcd');
    return client;
  };
  return {
    get cluster() {
      return cluster;
    },
    txn(txn) {
      const before = revision;
      return Answer.of<EtcdReply>(() => open().txn(txn)).map((reply) => {
        cluster ??= reply.cluster;
        if (reply.cluster !== cluster || reply.revision < before) throw otherHistory();
        if (reply.revision > revision) revision = reply.revision;
        return reply;
      });
    },
    grant: async (ttlMs) => open().grant(ttlMs),
    keepAlive: async (lease) => open().keepAlive(lease),
    revoke: async (lease) => open().revoke(lease),
    timeToLive: async (lease) => open().timeToLive(lease),
    watch: (watcher) => (over ? { [Symbol.dispose]: () => {} } : client.watch(watcher)),
    close() {
      over = true;
      if (owned) client.close();
    },
  };
}

function otherHistory(): StoreError {
  const message =
    'The etcd at this address is not the one seen before, or has lost its data. Stop all ' +
    'programs that use its locks before you start any of them again.';
  return new StoreError(message, { retryable: false, outcome: 'unknown' });
}
