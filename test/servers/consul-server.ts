/** A real Consul: a server alone, which keeps what it has in memory, or with a disk. */
import { freePort } from './ports.ts';
import { findProgram } from './programs.ts';
import { LocalServer, started } from './server-process.ts';

export class ConsulServer extends LocalServer {
  static async start(): Promise<ConsulServer> {
    const ports = [await freePort(), await freePort(), await freePort(), await freePort()];
    const program = await findProgram('consul');
    const server = new ConsulServer({ name: 'consul', program, ports });
    return started(server, () => server.start());
  }

  protected get args(): string[] {
    const [http, raft, lan, wan] = this.ports;
    const ports = `ports { grpc = -1 dns = -1 http = ${http} server = ${raft}
      serf_lan = ${lan} serf_wan = ${wan} }`;
    const options = ['agent', '-server', '-bootstrap', `-data-dir=${this.folder}/data`];
    const places = [`-bind=${this.host}`, `-client=${this.host}`, '-node=alone', `-hcl=${ports}`];
    const settings = [
      // It asks its makers for news otherwise.
      '-hcl=disable_update_check = true',
      // Of one address, where all programs of a test are.
      '-hcl=limits { http_max_conns_per_client = 5000 }',
    ];
    return [...options, ...places, ...settings, '-disable-host-node-id'];
  }

  protected async answers(): Promise<boolean> {
    const response = await fetch(`${this.url}/v1/kv/?keys&consistent`);
    return response.status === 404 || response.ok;
  }
}
