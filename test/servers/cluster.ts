/**
 * A cluster of three primaries with a replica each, or with none. The nodes are born knowing each
 * other, by their `nodes.conf`: introducing them with commands takes longer and ends no other way.
 */
import { until } from '../support/until.ts';
import { freePort, giveBack } from './ports.ts';
import { closeAll, RedisServer, type WatchedOptions } from './redis-server.ts';

const SLOTS = 16_384;
const SHARDS = 3;

export interface Migration {
  readonly slot: number;
  /** Default: another primary. */
  readonly to?: RedisServer | undefined;
  /** Runs when the slot is on its way and its keys are still where they were. */
  readonly halfway?: () => Promise<void>;
}

type Birth = { readonly port: number; readonly bus: number };

export interface ClusterOptions extends WatchedOptions {
  /** Default: true. */
  readonly replicas?: boolean;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { downAfterMs = 1_000, replicas = true } = options;
  const births: Birth[] = [];
  for (let n = 0; n < (replicas ? 2 : 1) * SHARDS; n += 1) {
    births.push({ port: await freePort(), bus: await freePort() });
  }
  const nodes = await Promise.all(
    births.map(({ port, bus }) => {
      const config = [
        'cluster-enabled yes',
        `cluster-port ${bus}`,
        `cluster-node-timeout ${downAfterMs}`,
        // However long it has heard nothing, a replica takes over.
        'cluster-replica-validity-factor 0',
        'repl-diskless-sync-delay 0',
        ...(options.config ?? []),
      ];
      const files = { 'nodes.conf': nodesFile(births, port) };
      return RedisServer.start({ ...options, port, config, files });
    }),
  );
  const cluster = new Cluster(
    nodes,
    births.map(({ bus }) => bus),
  );
  await cluster.settled();
  return cluster;
}

export class Cluster {
  /** The first three are born as primaries, the others as their replicas, in the same order. */
  readonly nodes: readonly RedisServer[];
  readonly #buses: readonly number[];

  constructor(nodes: readonly RedisServer[], buses: readonly number[]) {
    this.nodes = nodes;
    this.#buses = buses;
  }

  /** Where clients may begin. */
  get addresses(): { readonly host: string; readonly port: number }[] {
    return this.nodes.map(({ host, port }) => ({ host, port }));
  }

  /** Waits until all that run agree that the cluster is whole. */
  async settled(): Promise<void> {
    await until('was whole', async () => {
      const seen = await Promise.all(this.#running().map(viewOf));
      return seen.every((view) => view.ok && view.linked);
    });
  }

  async primaryOf(slot: number): Promise<RedisServer> {
    const [witness] = this.#running();
    if (witness === undefined) throw new Error('no node of the cluster runs');
    const ranges = (await witness.command('CLUSTER', 'SLOTS')) as SlotRange[];
    const range = ranges.find(([first, last]) => first <= slot && slot <= last);
    return this.#nodeAt(range?.[2][1]);
  }

  /** All of them, while each has some of its first slots. */
  primaries(): Promise<RedisServer[]> {
    return Promise.all([0, 6000, 12_000].map((slot) => this.primaryOf(slot)));
  }

  /** Lets the replica of this primary take over in good order, and answers it. */
  async failOver(primary: RedisServer): Promise<RedisServer> {
    const replica = this.#partnerOf(primary);
    await replica.command('CLUSTER', 'FAILOVER');
    await this.promoted(primary);
    // Before that it could not take over in its turn.
    await this.settled();
    return replica;
  }

  /** Waits until all but this primary have its replica in its place, and answers that. */
  async promoted(before: RedisServer): Promise<RedisServer> {
    const after = this.#partnerOf(before);
    await until('promoted the replica', async () => {
      const others = this.#running().filter((node) => node !== before);
      const seen = await Promise.all(others.map(viewOf));
      return seen.every((view) => view.ok && view.primaries.has(after.port));
    });
    return after;
  }

  /** Says that a slot is on its way; its keys are still where they were. */
  async announce({ slot, to: given }: Migration): Promise<{ from: RedisServer; to: RedisServer }> {
    const from = await this.primaryOf(slot);
    const to = given ?? (await this.primaries()).find((other) => other !== from);
    if (to === undefined) throw new Error('there is one primary only');
    await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', idOf(from.port));
    await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', idOf(to.port));
    return { from, to };
  }

  /** Moves a slot to another primary, which it answers, while clients go on. */
  async migrate({ slot, to: given, halfway }: Migration): Promise<RedisServer> {
    const { from, to } = await this.announce({ slot, to: given });
    await halfway?.();
    for (;;) {
      const keys = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
      if (keys.length === 0) break;
      await from.command('MIGRATE', to.host, to.port, '', 0, 5_000, 'KEYS', ...keys);
    }
    for (const node of [to, from]) {
      await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', idOf(to.port));
    }
    await until('agreed on the slot', async () => {
      const seen = await Promise.all(
        this.#running().map((node) => node.command('CLUSTER', 'SLOTS') as Promise<SlotRange[]>),
      );
      return seen.every((ranges) =>
        ranges.some(([first, last, [, port]]) => first <= slot && slot <= last && port === to.port),
      );
    });
    return to;
  }

  async close(): Promise<void> {
    await closeAll(this.nodes);
    this.#buses.forEach(giveBack);
  }

  #running(): RedisServer[] {
    return this.nodes.filter((node) => node.running);
  }

  #partnerOf(node: RedisServer): RedisServer {
    const partner = this.nodes[(this.nodes.indexOf(node) + SHARDS) % this.nodes.length];
    if (partner === undefined) throw new Error('this is no node of the cluster');
    return partner;
  }

  #nodeAt(port: number | undefined): RedisServer {
    const found = this.nodes.find((node) => node.port === port);
    if (found === undefined) throw new Error(`no node of the cluster is at port ${port}`);
    return found;
  }
}

type SlotRange = [first: number, last: number, primary: [host: string, port: number, id: string]];

interface View {
  readonly ok: boolean;
  /** It is a primary, or follows one. */
  readonly linked: boolean;
  /** The ports of those who serve slots. */
  readonly primaries: ReadonlySet<number>;
}

async function viewOf(node: RedisServer): Promise<View> {
  const state = String(await node.command('CLUSTER', 'INFO'));
  const ranges = (await node.command('CLUSTER', 'SLOTS')) as SlotRange[];
  const replication = String(await node.command('INFO', 'replication'));
  return {
    ok: state.includes('cluster_state:ok'),
    linked: /role:master|master_link_status:up/.test(replication),
    primaries: new Set(ranges.map(([, , [, port]]) => port)),
  };
}

function idOf(port: number): string {
  return `${port}`.padStart(40, '0');
}

function nodesFile(births: readonly Birth[], own: number): string {
  const lines = births.map(({ port, bus }, n) => {
    const shard = n % SHARDS;
    const primary = births[shard];
    const isPrimary = n < SHARDS || primary === undefined;
    const slots = `${firstSlot(shard)}-${firstSlot(shard + 1) - 1}`;
    return [
      ...[idOf(port), `127.0.0.1:${port}@${bus}`],
      (port === own ? 'myself,' : '') + (isPrimary ? 'master' : 'slave'),
      isPrimary ? '-' : idOf(primary.port),
      ...['0', '0', `${shard + 1}`, 'connected'],
      ...(isPrimary ? [slots] : []),
    ].join(' ');
  });
  return [...lines, `vars currentEpoch ${SHARDS} lastVoteEpoch 0`, ''].join('\n');
}

function firstSlot(shard: number): number {
  return Math.floor((shard * SLOTS) / SHARDS);
}
