/**
 * Three servers that agree, on the same machine, with the timing of their makers. They reach each
 * other directly, and each can be killed.
 */
import { EtcdServer } from '../test/servers/etcd-server.ts';
import { freePort, giveBack } from '../test/servers/ports.ts';
import { until } from '../test/servers/until.ts';
import { ZookeeperServer } from '../test/servers/zookeeper-server.ts';

/** What is needed of a server. */
interface Member {
  readonly running: boolean;
  readonly pid: number;
  start(): Promise<void>;
  kill(): Promise<void>;
  close(): Promise<void>;
}

interface Kind<S extends Member> {
  readonly url: string;
  readonly servers: readonly S[];
  /** Rejects or answers false while it has no part in the cluster. */
  serves(server: S): Promise<boolean>;
  leads(server: S): Promise<boolean>;
  end(): void;
}

export class Three<S extends Member = Member> {
  readonly #kind: Kind<S>;

  static async start<S extends Member>(kind: Kind<S>): Promise<Three<S>> {
    const three = new Three(kind);
    try {
      await three.mend();
      return three;
    } catch (error) {
      await three.close();
      throw error;
    }
  }

  private constructor(kind: Kind<S>) {
    this.#kind = kind;
  }

  get url(): string {
    return this.#kind.url;
  }

  get pids(): number[] {
    return this.#kind.servers.map(({ pid }) => pid);
  }

  /** Answers when it was done, in ns of the machine's monotonic clock, as `mend` does. */
  async killLeader(): Promise<number> {
    const { servers, leads } = this.#kind;
    const leading = await Promise.all(servers.map((server) => leads(server)));
    const leader = servers[leading.indexOf(true)];
    if (!leader) throw new Error('Nobody leads.');
    const at = now();
    await leader.kill();
    return at;
  }

  /** Starts whoever does not run, and waits until all take part. */
  async mend(): Promise<number> {
    const { servers, serves } = this.#kind;
    const dead = servers.filter(({ running }) => !running);
    await Promise.all(dead.map((server) => server.start()));
    await until('were all there', async () =>
      (await Promise.all(servers.map(serves))).every(Boolean),
    );
    return now();
  }

  async close(): Promise<void> {
    await Promise.all(this.#kind.servers.map((server) => server.close()));
    this.#kind.end();
  }
}

function now(): number {
  return Number(process.hrtime.bigint());
}

const COUNT = 3;

export async function threeZookeepers(): Promise<Three> {
  const ids = Array.from({ length: COUNT }, (_, n) => n + 1);
  const ports: number[] = [];
  const members: Record<number, string> = {};
  for (const id of ids) {
    const [quorum, election] = [await freePort(), await freePort()];
    ports.push(quorum, election);
    members[id] = `127.0.0.1:${quorum}:${election}`;
  }
  const options = { inProduction: true, config: ['initLimit=10', 'syncLimit=5'] };
  const servers: ZookeeperServer[] = [];
  for (const id of ids) servers.push(await ZookeeperServer.prepare(options, { id, members }));
  return Three.start({
    url: `zookeeper://${servers.map(({ address }) => address).join()}`,
    servers,
    serves: async (server) => (await server.mode()) !== undefined,
    leads: async (server) => (await server.mode()) === 'leader',
    end: () => ports.forEach(giveBack),
  });
}

/** With these options of their command lines. */
export async function threeEtcds(config: readonly string[]): Promise<Three> {
  const names = Array.from({ length: COUNT }, (_, n) => `member-${n}`);
  const ports = await Promise.all(names.map(freePort));
  const peers = names.map((name, n) => [name, `http://127.0.0.1:${ports[n]}`] as const);
  const servers: EtcdServer[] = [];
  for (const [n, peerPort] of ports.entries()) {
    const membership = { name: names[n] ?? '', peerPort, peers, certificates: undefined };
    servers.push(await EtcdServer.member(membership, { config }));
  }
  return Three.start({
    url: `etcd://${servers.map(({ host, port }) => `${host}:${port}`).join()}`,
    servers,
    serves: (server) => server.healthy(),
    leads: (server) => server.leads(),
    end: () => {},
  });
}
