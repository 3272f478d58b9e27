/**
 * Three ZooKeepers that elect a leader. They reach each other through proxies, one for each
 * direction of each pair and port, so that one can be cut off from the others while its clients
 * still reach it.
 */
import { until } from '../support/until.ts';
import { freePort, giveBack } from './ports.ts';
import { started } from './server-process.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { ZookeeperServer, type ZookeeperServerOptions } from './zookeeper-server.ts';

const IDS = [1, 2, 3] as const;

type Ports = { readonly quorum: number; readonly election: number };

/** A proxy on the way of one server to another. */
type Way = { readonly from: number; readonly to: number; readonly proxy: TcpProxy };

export class ZookeeperEnsemble {
  readonly servers: readonly ZookeeperServer[];
  readonly #ways: readonly Way[];
  readonly #ports: readonly number[];

  constructor(servers: readonly ZookeeperServer[], ways: readonly Way[], ports: readonly number[]) {
    this.servers = servers;
    this.#ways = ways;
    this.#ports = ports;
  }

  /** Of all servers. */
  get url(): string {
    return `zookeeper://${this.servers.map(({ address }) => address).join(',')}`;
  }

  /** Waits until there is one. */
  async leader(): Promise<ZookeeperServer> {
    let found: ZookeeperServer | undefined;
    await until('a leader', async () => {
      [found] = await this.#inMode('leader');
      return found !== undefined;
    });
    return found as ZookeeperServer;
  }

  /** Waits until there are two. */
  async followers(): Promise<readonly [ZookeeperServer, ZookeeperServer]> {
    let found: readonly ZookeeperServer[] = [];
    await until('enough followers', async () => {
      found = await this.#inMode('follower');
      return found.length === 2;
    });
    return found as [ZookeeperServer, ZookeeperServer];
  }

  /** Nothing gets from it to the others any more, nor back. Its clients reach it. */
  cutOff(server: ZookeeperServer): void {
    for (const { proxy } of this.#waysOf(server)) proxy.set({ flow: 'swallow' });
  }

  /** The same, but all of them are told at once. */
  disconnect(server: ZookeeperServer): void {
    for (const { proxy } of this.#waysOf(server)) {
      proxy.refuse();
      proxy.reset();
    }
  }

  /** What was swallowed stays lost, with the connections that it was sent over. */
  rejoin(server: ZookeeperServer): void {
    for (const { proxy } of this.#waysOf(server)) {
      proxy.set();
      proxy.reset();
    }
  }

  async reconnect(server: ZookeeperServer): Promise<void> {
    for (const { proxy } of this.#waysOf(server)) await proxy.accept();
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()));
    for (const { proxy } of this.#ways) proxy.close();
    for (const port of this.#ports) giveBack(port);
  }

  #waysOf(server: ZookeeperServer): Way[] {
    const id = IDS[this.servers.indexOf(server)];
    return this.#ways.filter(({ from, to }) => from === id || to === id);
  }

  async #inMode(mode: string): Promise<ZookeeperServer[]> {
    const running = this.servers.filter((server) => server.running);
    const modes = await Promise.all(running.map((server) => server.mode().catch(() => undefined)));
    return running.filter((_, n) => modes[n] === mode);
  }
}

export async function startZookeeperEnsemble(
  options: ZookeeperServerOptions = {},
): Promise<ZookeeperEnsemble> {
  const ports = new Map<number, Ports>();
  for (const id of IDS) ports.set(id, { quorum: await freePort(), election: await freePort() });
  const ways: Way[] = [];
  const servers: ZookeeperServer[] = [];
  for (const id of IDS) {
    const members: Record<number, string> = {};
    for (const other of IDS) {
      let { quorum, election } = ports.get(other) as Ports;
      if (other !== id) {
        const proxies = [await TcpProxy.start(quorum), await TcpProxy.start(election)] as const;
        ways.push(...proxies.map((proxy) => ({ from: id, to: other, proxy })));
        [quorum, election] = [proxies[0].port, proxies[1].port];
      }
      members[other] = `127.0.0.1:${quorum}:${election}`;
    }
    servers.push(await ZookeeperServer.prepare(options, { id, members }));
  }
  const all = [...ports.values()].flatMap(({ quorum, election }) => [quorum, election]);
  const ensemble = new ZookeeperEnsemble(servers, ways, all);
  return started(ensemble, () => Promise.all(servers.map((server) => server.start())));
}
