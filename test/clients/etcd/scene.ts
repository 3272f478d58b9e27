/** Servers and clients that end with their test, and what clients hear. */
import { onTestFinished } from 'vitest';
import type { EtcdAddress } from '../../../src/clients/etcd/address.ts';
import type {
  EtcdClient,
  EtcdReply,
  EtcdWatcher,
  KeyChange,
  KeyValue,
  RangeAnswer,
} from '../../../src/clients/etcd/client.ts';
import { type EtcdClientOptions, etcdClient } from '../../../src/clients/etcd/etcd-client.ts';
import { type EtcdOptions, type EtcdServer, startEtcd } from '../../servers/etcd-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { closing } from '../../support/closing.ts';
import { until } from '../../support/until.ts';

export async function start(options?: EtcdOptions): Promise<EtcdServer> {
  return closing(await startEtcd(options));
}

export function clientOf(
  address: string | readonly string[] | EtcdAddress,
  options?: EtcdClientOptions,
): EtcdClient {
  return closing(etcdClient(address, options));
}

export async function proxyTo(port: number): Promise<TcpProxy> {
  return closing(await TcpProxy.start(port));
}

export type Behind = { readonly proxy: TcpProxy; readonly client: EtcdClient };

/** A client at a proxy before the server. */
export async function behindProxy(server: { readonly port: number }): Promise<Behind> {
  const proxy = await proxyTo(server.port);
  return { proxy, client: clientOf(`etcd://${proxy.host}:${proxy.port}`) };
}

export function put(client: EtcdClient, key: string, value = ''): Promise<EtcdReply> {
  return client.txn({ success: [{ put: { key, value } }] });
}

/** All keys that begin so, which may not end in the last character that there is. */
export function beginning(prefix: string): { readonly key: string; readonly end: string } {
  const last = prefix.charCodeAt(prefix.length - 1);
  return { key: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}

export async function valuesOf(
  client: EtcdClient,
  prefix: string,
): Promise<Record<string, string>> {
  const { answers } = await client.txn({ success: [{ range: beginning(prefix) }] });
  const { range } = answers[0] as { range: RangeAnswer };
  return Object.fromEntries(range.kvs.map(({ key, value }) => [key, value]));
}

/** What stands under one key. */
export async function entryOf(client: EtcdClient, key: string): Promise<KeyValue | undefined> {
  const { answers } = await client.txn({ success: [{ range: { key } }] });
  return (answers[0] as { range: RangeAnswer }).range.kvs[0];
}

/** A watch, and all that it was told. */
export class Ear {
  readonly batches: { readonly changes: readonly KeyChange[]; readonly revision: bigint }[] = [];
  started: bigint | undefined;
  starts = 0;
  losses = 0;
  readonly #watch: Disposable;

  constructor(client: EtcdClient, keys: Pick<EtcdWatcher, 'key' | 'end' | 'from'>) {
    this.#watch = client.watch({
      ...keys,
      started: (revision) => {
        this.started = revision;
        this.starts++;
      },
      changed: (changes, revision) => this.batches.push({ changes, revision }),
      lost: () => {
        this.losses++;
      },
    });
    onTestFinished(() => this.end());
  }

  end(): void {
    this.#watch[Symbol.dispose]();
  }

  /** The keys that were written, and those that were deleted with a minus, in order. */
  get keys(): string[] {
    return this.batches.flatMap(({ changes }) =>
      changes.map(({ deleted, kv }) => `${deleted ? '-' : ''}${kv.key}`),
    );
  }
}

/** The watch of a key, or of all that begin with what ends in a slash, once it has started. */
export async function hear(client: EtcdClient, key: string, from?: bigint): Promise<Ear> {
  const keys = key.endsWith('/') ? beginning(key) : { key };
  const ear = new Ear(client, { ...keys, ...(from !== undefined && { from }) });
  await until('started', async () => ear.starts === 1);
  return ear;
}
