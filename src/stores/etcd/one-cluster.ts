import { StoreError } from '../../errors.ts';
import type { EtcdClient, Reply, Txn } from './client.ts';

/** A client that refuses to speak with another cluster than at first: its revisions are others. */
export class OneCluster implements EtcdClient {
  readonly #client: EtcdClient;
  #cluster: bigint | undefined;

  constructor(client: EtcdClient) {
    this.#client = client;
  }

  /** Known after the first answer. */
  get cluster(): bigint | undefined {
    return this.#cluster;
  }

  async txn(txn: Txn): Promise<Reply> {
    const reply = await this.#client.txn(txn);
    this.#cluster ??= reply.cluster;
    if (reply.cluster !== this.#cluster) throw otherCluster();
    return reply;
  }

  grant: EtcdClient['grant'] = (ttlMs) => this.#client.grant(ttlMs);
  keepAlive: EtcdClient['keepAlive'] = (lease) => this.#client.keepAlive(lease);
  revoke: EtcdClient['revoke'] = (lease) => this.#client.revoke(lease);
  timeToLive: EtcdClient['timeToLive'] = (lease) => this.#client.timeToLive(lease);
  watch: EtcdClient['watch'] = (watcher) => this.#client.watch(watcher);
  close: EtcdClient['close'] = () => this.#client.close();
}

function otherCluster(): StoreError {
  const message = 'Another etcd cluster answers at this address than before.';
  return new StoreError(message, { retryable: false, outcome: 'unknown' });
}
