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
import type { EtcdClient, EtcdReply, EtcdWatcher, Txn } from './client.ts';

export class OneCluster implements EtcdClient {
  readonly #client: EtcdClient;
  readonly #owned: boolean;
  #closed = false;
  #cluster: bigint | undefined;
  #revision = 0n;

  /** `owned`: closed with it. */
  constructor(client: EtcdClient, owned: boolean) {
    this.#client = client;
    this.#owned = owned;
  }

  /** Known after the first reply. */
  get cluster(): bigint | undefined {
    return this.#cluster;
  }

  txn(txn: Txn): Promise<EtcdReply> {
    const before = this.#revision;
    return Answer.of<EtcdReply>(() => this.#open().txn(txn)).map((reply) => {
      this.#cluster ??= reply.cluster;
      if (reply.cluster !== this.#cluster || reply.revision < before) throw otherHistory();
      if (reply.revision > this.#revision) this.#revision = reply.revision;
      return reply;
    });
  }

  grant: EtcdClient['grant'] = async (ttlMs) => this.#open().grant(ttlMs);
  keepAlive: EtcdClient['keepAlive'] = async (lease) => this.#open().keepAlive(lease);
  revoke: EtcdClient['revoke'] = async (lease) => this.#open().revoke(lease);
  timeToLive: EtcdClient['timeToLive'] = async (lease) => this.#open().timeToLive(lease);

  watch(watcher: EtcdWatcher): Disposable {
    return this.#closed ? { [Symbol.dispose]: () => {} } : this.#client.watch(watcher);
  }

  close(): void {
    this.#closed = true;
    if (this.#owned) this.#client.close();
  }

  #open(): EtcdClient {
    if (this.#closed) throw closed('etcd');
    return this.#client;
  }
}

function otherHistory(): StoreError {
  const message =
    'The etcd at this address is not the one seen before, or has lost its data. Stop all ' +
    'programs that use its locks before you start any of them again.';
  return new StoreError(message, { retryable: false, outcome: 'unknown' });
}
