/** etcd as the fault tests of all stores see it. */
import type { Store } from 'holdfast';
import { type EtcdOptions, etcdStore } from 'holdfast/etcd';
import { afterAll, expect } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { EtcdClient } from '../../../src/clients/etcd/client.ts';
import { etcdStoreOf } from '../../../src/stores/etcd/etcd-store.ts';
import { KeySpace } from '../../../src/stores/etcd/layout.ts';
import { Bed as AnyBed, type Place, type StoreOptions } from '../../methods/faults/bed.ts';
import {
  type EtcdServer,
  type EtcdOptions as ServerOptions,
  startEtcd,
} from '../../servers/etcd-server.ts';
import { until } from '../../support/until.ts';

/** Claims live as long as they want to, so that `maxTtl` is nothing. */
export type Options = StoreOptions & Pick<EtcdOptions, 'prefix'>;

/** Of all tests of a file. */
export async function sharedServer(options?: ServerOptions): Promise<EtcdServer> {
  const server = await startEtcd(options);
  afterAll(() => server.close());
  return server;
}

/** From now on it tells nothing of what was before. */
export async function compact(server: EtcdServer): Promise<void> {
  const json = await server.etcdctl('put', 'x', 'y', '--write-out=json');
  const { header } = JSON.parse(json) as { readonly header: { readonly revision: number } };
  await server.etcdctl('compact', `${header.revision}`);
}

/** A key, and its lease if it has one. */
type Kept = { readonly key: string; readonly lease?: number };

let beds = 0;

export class Bed extends AnyBed<Options, EtcdServer> {
  readonly prefix: string = `bed_${++beds}/`;
  readonly #shared: EtcdServer | undefined;

  /** With a server that several use at a time, which must not suffer. */
  constructor(shared?: EtcdServer) {
    super();
    this.#shared = shared;
  }

  async server(): Promise<EtcdServer> {
    return this.#shared ?? this.serve(await startEtcd());
  }

  store(at: Place, options?: Options): Store {
    return this.storeOn([at], options);
  }

  /** On servers of a cluster: whoever of them is asked, answers. */
  storeOn(servers: readonly Place[], { prefix = this.prefix }: Options = {}): Store {
    const address = `etcd://${servers.map(({ host, port }) => `${host}:${port}`)}`;
    return this.use(etcdStore(address, { prefix }));
  }

  /** With a client that is not as others. */
  storeOf(client: EtcdClient, maxWaiters = 100): Store {
    return this.use(etcdStoreOf({ client, keys: this.keys, clock: systemClock(), maxWaiters }));
  }

  get keys(): KeySpace {
    return new KeySpace(this.prefix);
  }

  urlOf({ host, port }: Place): string {
    return `etcd://${host}:${port}?prefix=${encodeURIComponent(this.prefix)}`;
  }

  /** No claims; and what is kept for a while has a lease that ends by itself. */
  async expectNothingLeft(server: EtcdServer): Promise<void> {
    // Whom a release did not reach in time passes by itself. Tombstones have no name, notes no id.
    const isClaim = ({ key }: Kept): boolean => key.includes('/') && !key.startsWith('%/');
    await until('were all claims over', async () => !(await this.#kept(server)).some(isClaim));
    expect((await this.#kept(server)).filter(({ lease = 0 }) => lease === 0)).toEqual([]);
  }

  async #kept(server: EtcdServer): Promise<Kept[]> {
    const json = await server.etcdctl('get', '--prefix', this.prefix, '--write-out=json');
    const { kvs = [] } = JSON.parse(json) as { kvs?: Kept[] };
    const below = (key: string): string =>
      Buffer.from(key, 'base64').toString().slice(this.prefix.length);
    return kvs.map((each) => ({ ...each, key: below(each.key) }));
  }
}
