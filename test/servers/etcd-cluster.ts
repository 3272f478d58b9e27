/** Three servers of etcd that agree, each of which can be killed or cut off from the others. */
import { until } from '../support/until.ts';
import { type EtcdOptions, EtcdServer } from './etcd-server.ts';
import { PeerGate } from './peer-gate.ts';
import { freePort } from './ports.ts';
import { started } from './server-process.ts';
import { certificates } from './tls.ts';

const NAMES = ['one', 'two', 'three'];

/**
 * Elections are for tests in which a leader dies, so they come soon; but not so soon that a busy
 * machine, which lets nothing run for half a second, elects all the time.
 */
const CONFIG = ['--heartbeat-interval=50', '--election-timeout=1000'];

export class EtcdCluster {
  readonly servers: readonly EtcdServer[];
  readonly #gates: readonly PeerGate[];
  readonly #ids = new Map<EtcdServer, string>();

  static async start(options: EtcdOptions = {}): Promise<EtcdCluster> {
    const files = options.tls ? await certificates() : undefined;
    const ports = await Promise.all(NAMES.map(freePort));
    const gates = await Promise.all(ports.map((port) => PeerGate.start(port)));
    const peers = gates.map(({ url }, n) => [NAMES[n] ?? '', url] as const);
    const config = [...CONFIG, ...(options.config ?? [])];
    const servers: EtcdServer[] = [];
    for (const [n, peerPort] of ports.entries()) {
      const membership = { name: NAMES[n] ?? '', peerPort, peers, files };
      servers.push(await EtcdServer.member(membership, { ...options, config }));
    }
    const cluster = new EtcdCluster(servers, gates);
    return started(cluster, async () => {
      await Promise.all(servers.map((server) => server.start()));
      await cluster.#meetAll();
      await servers[0]?.letIn(options.users);
      if (options.users) for (const server of servers) server.knowUsers();
    });
  }

  private constructor(servers: readonly EtcdServer[], gates: readonly PeerGate[]) {
    this.servers = servers;
    this.#gates = gates;
  }

  /** As the locks are given it; without the name of a user. */
  get url(): string {
    const [first, ...others] = this.servers;
    return [first?.url, ...others.map(({ host, port }) => `${host}:${port}`)].join(',');
  }

  /** The server that leads, and that those who run follow; waits until there is one. */
  async leader(): Promise<EtcdServer> {
    let leader: EtcdServer | undefined;
    await until('had a leader', async () => {
      const running = this.servers.filter((server) => server.running);
      // One that stands still may lead: another has to be asked.
      const asked = running.map((server) => server.leads().catch(() => false));
      const leading = await Promise.all(asked);
      const [first, ...others] = running.filter((_, n) => leading[n]);
      leader = first;
      return first !== undefined && others.length === 0 && (await first.healthy());
    });
    return leader as EtcdServer;
  }

  async followers(): Promise<EtcdServer[]> {
    const leader = await this.leader();
    return this.servers.filter((server) => server !== leader);
  }

  /** It hears nothing of the others, nor they of it; clients reach it all the same. */
  async cutOff(server: EtcdServer): Promise<void> {
    const id = this.#ids.get(server);
    for (const [n, gate] of this.#gates.entries()) {
      const own = this.servers[n] === server;
      gate.refuse((from) => own || from === id);
    }
    await until('had no leader', async () => !(await server.hasLeader()));
  }

  /** All hear each other again. */
  async heal(): Promise<void> {
    for (const gate of this.#gates) gate.refuse(() => false);
    await until('were well', async () => {
      const well = this.servers.map((server) => !server.running || server.healthy());
      return (await Promise.all(well)).every(Boolean);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()));
    for (const gate of this.#gates) gate.close();
  }

  async #meetAll(): Promise<void> {
    const list = await this.servers[0]?.etcdctl('member', 'list');
    for (const line of list?.trim().split('\n') ?? []) {
      const [id = '', , name = ''] = line.split(', ');
      const server = this.servers[NAMES.indexOf(name)];
      if (server) this.#ids.set(server, id);
    }
  }
}

export function startEtcdCluster(options: EtcdOptions = {}): Promise<EtcdCluster> {
  return EtcdCluster.start(options);
}
