/** ZooKeeper as the fault tests of all stores see it. */
import type { Store } from 'holdfast';
import { type Claim, type ClaimStatus, MAX_PERMITS } from 'holdfast/store';
import type { ZookeeperClient, ZookeeperSession, ZookeeperStoreOptions } from 'holdfast/zookeeper';
import { zookeeperClient, zookeeperStore } from 'holdfast/zookeeper';
import { afterAll } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import type { Stat } from '../../../src/clients/zookeeper/wire/requests.ts';
import { Tree } from '../../../src/stores/zookeeper/layout.ts';
import { zookeeperStoreOf } from '../../../src/stores/zookeeper/zookeeper-store.ts';
import type { Place, StoreOptions } from '../../methods/faults/bed.ts';
import { Bed as AnyBed, LONG_TTL_MS } from '../../methods/faults/bed.ts';
import {
  startZookeeper,
  type ZookeeperServer,
  type ZookeeperServerOptions,
} from '../../servers/zookeeper-server.ts';
import { until } from '../../support/until.ts';

/** Claims live as long as their servers keep sessions, so that `maxTtl` is nothing. */
export type Options = StoreOptions & Pick<ZookeeperStoreOptions, 'path'>;

export type QueueNode = { readonly path: string; readonly stat: Stat };

export type Terms = Pick<Claim, 'kind' | 'permits' | 'limit'>;

export const MUTEX: Terms = { kind: 'mutex', permits: 1, limit: 1 };
export const READ: Terms = { kind: 'read', permits: 1, limit: MAX_PERMITS };
export const WRITE: Terms = { kind: 'write', permits: MAX_PERMITS, limit: MAX_PERMITS };
export const SEAT: Terms = { kind: 'permits', permits: 1, limit: 2 };

/** Of all tests of a file. */
export async function sharedServer(options?: ZookeeperServerOptions): Promise<ZookeeperServer> {
  const server = await startZookeeper(options);
  afterAll(() => server.close());
  return server;
}

let beds = 0;

export class Bed extends AnyBed<Options, ZookeeperServer> {
  /** Where its queues are. */
  readonly path: string = `/bed_${++beds}`;
  readonly tree: Tree = new Tree(this.path);
  #server: ZookeeperServer | undefined;
  #looking: ZookeeperSession | undefined;

  /** With a server that several use at a time, which must not suffer. */
  constructor(shared?: ZookeeperServer) {
    super();
    this.#server = shared;
  }

  async server(): Promise<ZookeeperServer> {
    this.#server ??= this.serve(await startZookeeper());
    return this.#server;
  }

  store(at: Place, options?: Options): Store {
    return this.storeOn([at], options);
  }

  /** On servers of an ensemble, or on what stands before them. */
  storeOn(servers: readonly Place[], { path = this.path }: Options = {}): Store {
    const address = `zookeeper://${servers.map(({ host, port }) => `${host}:${port}`)}`;
    return this.use(zookeeperStore(address, { path }));
  }

  /** With a client, or a clock, that is not as others. */
  storeOf(client: ZookeeperClient, clock: Clock = systemClock(), maxWaiters = 100): Store {
    return this.use(zookeeperStoreOf({ client, tree: this.tree, clock, maxWaiters }));
  }

  urlOf({ host, port }: Place): string {
    return `zookeeper://${host}:${port}?path=${encodeURIComponent(this.path)}`;
  }

  session({ url }: Pick<ZookeeperServer, 'url'>): ZookeeperSession {
    return this.use(zookeeperClient(url).start(LONG_TTL_MS));
  }

  /** To look at nodes, or to change them, once there is a server. */
  get looking(): ZookeeperSession {
    this.#looking ??= this.session(this.#server as ZookeeperServer);
    return this.#looking;
  }

  /** The nodes of a queue, by the time of their making, as the server has them. */
  async nodes(resource: string): Promise<readonly QueueNode[]> {
    const queue = `${this.path}/${resource}`;
    if ((await this.looking.exists(queue)) === undefined) return [];
    const { children } = await this.looking.getChildren(queue);
    const nodes = children.map(async (name) => {
      const path = `${queue}/${name}`;
      return { path, stat: await this.looking.exists(path) };
    });
    const there = (await Promise.all(nodes)).filter((node) => node.stat) as QueueNode[];
    return there.sort((a, b) => (a.stat.czxid < b.stat.czxid ? -1 : 1));
  }

  /** No claims; empty queues are containers, which the server deletes by itself. */
  async expectNothingLeft(server: ZookeeperServer): Promise<void> {
    const session = this.session(server);
    const { children } = await session.getChildren(this.path);
    for (const name of children.filter((each) => each !== '%' && each !== '%kept')) {
      const queue = `${this.path}/${name}`;
      // Whom a release did not reach in time passes by itself.
      await until(`was ${queue} empty`, async () => {
        const stat = await session.exists(queue);
        return stat === undefined || (stat.numChildren === 0 && stat.session === 0n);
      });
    }
    await session.close();
  }
}

export async function ask(store: Store, claim: Claim): Promise<ClaimStatus | undefined> {
  return (await store.claim([claim]))[0];
}
