/** ZooKeeper as the fault tests of all stores see it. */
import type { Store } from 'holdfast';
import {
  type ZookeeperSession,
  type ZookeeperStoreOptions,
  zookeeperClient,
  zookeeperStore,
} from 'holdfast/zookeeper';
import type { Stat } from '../../../src/clients/zookeeper/wire/requests.ts';
import {
  Bed as AnyBed,
  LONG_TTL_MS,
  type Place,
  type StoreOptions,
} from '../../methods/faults/bed.ts';
import { startZookeeper, type ZookeeperServer } from '../../servers/zookeeper-server.ts';
import { until } from '../../support/until.ts';

/** Claims live as long as their servers keep sessions, so that `maxTtl` is nothing. */
export type Options = StoreOptions & ZookeeperStoreOptions;

export interface QueueNode {
  readonly path: string;
  readonly stat: Stat;
}

let beds = 0;

export class Bed extends AnyBed<Options, ZookeeperServer> {
  /** Where its queues are. */
  readonly path: string = `/bed_${++beds}`;
  readonly #shared: ZookeeperServer | undefined;

  /** With a server that several use at a time, which must not suffer. */
  constructor(shared?: ZookeeperServer) {
    super();
    this.#shared = shared;
  }

  async server(): Promise<ZookeeperServer> {
    return this.#shared ?? this.serve(await startZookeeper());
  }

  store({ host, port }: Place, options: Options = {}): Store {
    return this.storeAt(`zookeeper://${host}:${port}`, options);
  }

  /** On all servers of an ensemble, or on what stands before one. */
  storeAt(address: string, options: Options = {}): Store {
    const { path = this.path, maxWaiters } = options;
    const known = maxWaiters === undefined ? { path } : { path, maxWaiters };
    return this.use(zookeeperStore(address, known));
  }

  urlOf({ host, port }: Place): string {
    return `zookeeper://${host}:${port}?path=${encodeURIComponent(this.path)}`;
  }

  /** To look at nodes, or to change them. */
  session({ url }: Pick<ZookeeperServer, 'url'>): ZookeeperSession {
    return this.use(zookeeperClient(url).start(LONG_TTL_MS));
  }

  /** The nodes of a queue, by the time of their making, as the server has them. */
  async nodes(session: ZookeeperSession, resource: string): Promise<readonly QueueNode[]> {
    const queue = `${this.path}/${resource}`;
    if ((await session.exists(queue)) === undefined) return [];
    const { children } = await session.getChildren(queue);
    const nodes = children.map(async (name) => {
      const path = `${queue}/${name}`;
      return { path, stat: await session.exists(path) };
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
