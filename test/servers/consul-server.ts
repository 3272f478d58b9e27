/** A real Consul: a server alone, which keeps what it has in memory, or with a disk. */
import { freePort } from './ports.ts';
import { type Command, findProgram } from './programs.ts';
import { LocalServer, ServerProcess } from './server-process.ts';

export class ConsulServer extends LocalServer {
  readonly port: number;
  readonly #program: Command;
  readonly #others: readonly number[];

  static async start(): Promise<ConsulServer> {
    const ports = [await freePort(), await freePort(), await freePort(), await freePort()];
    const server = new ConsulServer(await findProgram('consul'), ports);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  private constructor(program: Command, [port = 0, ...others]: readonly number[]) {
    super(new ServerProcess('consul', { refusesRoot: false }));
    this.#program = program;
    this.port = port;
    this.#others = others;
  }

  get url(): string {
    return `http://${this.host}:${this.port}`;
  }

  protected override get ports(): readonly number[] {
    return [this.port, ...this.#others];
  }

  async start(): Promise<void> {
    const [program, ...args] = this.#program;
    const [raft, lan, wan] = this.#others;
    const ports = `ports { grpc = -1 dns = -1 http = ${this.port} server = ${raft}
      serf_lan = ${lan} serf_wan = ${wan} }`;
    const options = ['agent', '-server', '-bootstrap', `-data-dir=${this.folder}/data`];
    const places = [`-bind=${this.host}`, `-client=${this.host}`, '-node=alone', `-hcl=${ports}`];
    const settings = [
      // It asks its makers for news otherwise.
      '-hcl=disable_update_check = true',
      // Of one address, where all programs of a test are.
      '-hcl=limits { http_max_conns_per_client = 5000 }',
    ];
    const command = [program, ...args, ...options, ...places, ...settings, '-disable-host-node-id'];
    await this.process.start(command, process.env, async () => {
      const response = await fetch(`${this.url}/v1/kv/?keys&consistent`);
      return response.status === 404 || response.ok;
    });
  }
}
