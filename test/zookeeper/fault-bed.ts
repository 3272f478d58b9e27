/** ZooKeeper as the fault tests of all stores see it. */
import type { Store } from 'holdfast';
import { type ZookeeperStoreOptions, zookeeperClient, zookeeperStore } from 'holdfast/zookeeper';
import { Bed as AnyBed, type Place, type StoreOptions } from '../faults/bed.ts';
import { until } from '../servers/until.ts';
import { startZookeeper, type ZookeeperServer } from '../servers/zookeeper-server.ts';

/** Claims live as long as their servers keep sessions, so that `maxTtl` is nothing. */
export type Options = StoreOptions & ZookeeperStoreOptions;

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

  /** No claims; empty queues are containers, which the server deletes by itself. */
  async expectNothingLeft({ url }: ZookeeperServer): Promise<void> {
    const session = zookeeperClient(url).start();
    try {
      const { children } = await session.getChildren(this.path);
      const queues = children.filter((name) => name !== '%').map((name) => `${this.path}/${name}`);
      for (const queue of queues) {
        // Whom a release did not reach in time passes by itself.
        await until(`was ${queue} empty`, async () => {
          const stat = await session.exists(queue);
          return stat === undefined || (stat.numChildren === 0 && stat.session === 0n);
        });
      }
    } finally {
      await session.close();
    }
  }
}
