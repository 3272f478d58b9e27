import { StoreError } from '../../contract/errors.ts';
import type { EtcdClient, Reply, Txn } from './client.ts';

/**
 * Refuses any cluster but the first, and one that has lost its data: its revisions, and so tokens,
 * were given out before. An etcd that starts again without its data may have the same name as
 * before, so the revision is checked as well: that of a later reply is never smaller.
 */
export class OneCluster implements EtcdClient {
  readonly #client: EtcdClient;
  #cluster: bigint | undefined;
  #revision = 0n;

  constructor(client: EtcdClient) {
    this.#client = client;
  }

  /** Known after the first reply. */
  get cluster(): bigint | undefined {
    return this.#cluster;
  }

  async txn(txn: Txn): Promise<Reply> {
    const before = this.#revision;
    const reply = await this.#client.txn(txn);
    this.#cluster ??= reply.cluster;
    if (reply.cluster !== this.#cluster || reply.revision < before) throw otherHistory();
    if (reply.revision > this.#revision) this.#revision = reply.revision;
    return reply;
  }

  grant: EtcdClient['grant'] = (ttlMs) => this.#client.grant(ttlMs);
  keepAlive: EtcdClient['keepAlive'] = (lease) => this.#client.keepAlive(lease);
  revoke: EtcdClient['revoke'] = (lease) => this.#client.revoke(lease);
  timeToLive: EtcdClient['timeToLive'] = (lease) => this.#client.timeToLive(lease);
  watch: EtcdClient['watch'] = (watcher) => this.#client.watch(watcher);
  close: EtcdClient['close'] = () => this.#client.close();
}

function otherHistory(): StoreError {
  const message =
    'The etcd at this address is not the one seen before, or has lost its data. Stop all ' +
    'programs that use its locks before you start any of them again.';
  return new StoreError(message, { retryable: false, outcome: 'unknown' });
}
