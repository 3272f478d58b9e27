/** The client for etcd that needs no package. */
import { type EtcdAddress, readAddress } from './address.ts';
import { Calls, type RpcMethod } from './calls.ts';
import { EtcdChannels } from './channels.ts';
import type { EtcdClient, EtcdReply } from './client.ts';
import { isLeaseGone } from './errors.ts';
import { keepAlives } from './keep-alives.ts';
import { EtcdWatches } from './watches.ts';
import * as messages from './wire/messages.ts';
import type { Message } from './wire/protobuf.ts';

const TXN: RpcMethod<messages.TxnRequest, EtcdReply> = {
  path: '/etcdserverpb.KV/Txn',
  request: messages.txnRequest,
  read: messages.readReply,
};
const TERM: RpcMethod<messages.TxnRequest, bigint> = { ...TXN, read: messages.readTerm };
const GRANT = leaseMethod('Grant', messages.grantRequest);
const REVOKE = leaseMethod('Revoke', messages.idRequest);
const TIME_TO_LIVE = leaseMethod('TimeToLive', messages.idRequest);

function leaseMethod<Q>(name: string, request: Message<Q>): RpcMethod<Q, messages.LeaseTimes> {
  return { path: `/etcdserverpb.Lease/Lease${name}`, request, read: messages.readLease };
}

export interface EtcdClientOptions {
  /**
   * A key that the user may read, even if it is missing: reading it confirms that leases were kept
   * alive. Default: one of the default prefix of locks.
   */
  readonly readable?: string;
}

/**
 * Connects with its first request, to any of the servers.
 *
 * @example
 * import { etcdClient } from 'holdfast/etcd';
 *
 * const etcd = etcdClient('http://127.0.0.1:2379');
 * await etcd.txn({ success: [{ put: { key: 'colour', value: 'blue' } }] });
 * etcd.close();
 *
 * @throws UsageError if the address is malformed.
 */
export function etcdClient(
  address: string | readonly string[] | EtcdAddress,
  { readable: key = 'holdfast/' }: EtcdClientOptions = {},
): EtcdClient {
  const { endpoints, user } = readAddress(address);
  const channels = new EtcdChannels(endpoints);
  const calls = new Calls(channels, user);
  const nothing = messages.txnRequestOf({ success: [{ range: { key, countOnly: true } }] });
  const keepAlive = keepAlives(calls, (end) => calls.call(TERM, nothing, end));
  const watches = new EtcdWatches(calls);
  return {
    txn: (txn) => calls.call(TXN, messages.txnRequestOf(txn)),
    grant: async (ttlMs) => {
      const { id, ttl } = await calls.call(GRANT, { ttl: BigInt(Math.ceil(ttlMs / 1000)) });
      return { id, ttlMs: msOf(ttl) };
    },
    keepAlive: async (lease) => msOf(await keepAlive(lease)),
    revoke: async (id) => {
      await calls.call(REVOKE, { id }).catch((error: unknown) => {
        if (!isLeaseGone(error)) throw error;
      });
    },
    timeToLive: async (id) => msOf((await calls.call(TIME_TO_LIVE, { id })).ttl),
    watch: (watcher) => watches.watch(watcher),
    close: () => {
      watches.close();
      channels.close();
    },
  };
}

/** It is -1 for a dead lease. */
function msOf(seconds: bigint): number {
  return Math.max(0, Number(seconds) * 1000);
}
