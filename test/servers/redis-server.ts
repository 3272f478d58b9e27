/** A real Redis or Valkey, alone or as one of many. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { HANG_MS } from '../support/this-run.ts';
import { freePort } from './ports.ts';
import { type Command, findProgram, type ProgramName } from './programs.ts';
import { LocalServer, started } from './server-process.ts';

export interface RedisServerOptions {
  /** Default: `redis`. */
  readonly program?: ProgramName;
  /** In the place of `program`: how to start another one like it. */
  readonly command?: Command;
  /** Default: a free one. */
  readonly port?: number;
  /** Lines of its configuration, after those that every server here has. */
  readonly config?: readonly string[];
  /** Keeps its data when it is killed. Default: false. */
  readonly persistent?: boolean;
  readonly sentinel?: boolean;
  /** Files that its folder holds at the start, by their names. */
  readonly files?: Readonly<Record<string, string>>;
  /** Added to its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface WatchedOptions extends RedisServerOptions {
  /**
   * A server that is silent for so many ms counts as down, and is replaced. Default: 1 s, which is
   * quick; a test in which nothing fails should give a busy machine more.
   */
  readonly downAfterMs?: number;
}

export class RedisServer extends LocalServer {
  protected readonly args: readonly string[];
  readonly #persistent: boolean;

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const program = options.command ?? (await findProgram(options.program ?? 'redis'));
    const server = new RedisServer(program, options.port ?? (await freePort()), options);
    return started(server, () => server.start());
  }

  private constructor(program: Command, port: number, options: RedisServerOptions) {
    const { config = [], persistent = false, sentinel = false, files = {}, env } = options;
    super({ name: 'redis', program, ports: [port], env });
    this.#persistent = persistent;
    const lines = [
      ...[`port ${port}`, `bind ${this.host}`, `dir ${this.folder}`],
      ...[`unixsocket ${this.#socket}`, 'save ""', `appendonly ${persistent ? 'yes' : 'no'}`],
      'appendfsync always',
    ];
    const file = join(this.folder, 'redis.conf');
    writeFileSync(file, [...(sentinel ? lines.slice(0, 4) : lines), ...config, ''].join('\n'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.folder, name), text);
    this.args = [file, ...(sentinel ? ['--sentinel'] : [])];
  }

  override get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  protected async answers(): Promise<boolean> {
    return (await this.command('PING')) === 'PONG';
  }

  /** Crashes it and starts it again. To keep its data it has to be persistent; then it does. */
  override async restart(
    { keepData }: { readonly keepData: boolean } = { keepData: this.#persistent },
  ): Promise<void> {
    if (keepData && !this.#persistent) throw new Error('only a persistent server keeps its data');
    await this.kill();
    if (!keepData) {
      for (const data of ['dump.rdb', 'appendonlydir']) {
        rmSync(join(this.folder, data), { recursive: true, force: true });
      }
    }
    await this.start();
  }

  /** Sends one command over a connection of its own, past every proxy, TLS and port. */
  async command(...args: readonly [string, ...(string | number)[]]): Promise<unknown> {
    const client = new Redis(this.#socket, {
      lazyConnect: true,
      enableReadyCheck: false,
      disableClientInfo: true,
      connectTimeout: HANG_MS,
      commandTimeout: HANG_MS,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.call(...(args as [string, ...string[]]));
    } finally {
      client.disconnect();
    }
  }

  /** How often it has carried out these commands, within scripts or not. */
  async calls(...names: readonly string[]): Promise<number> {
    const stats = String(await this.command('INFO', 'commandstats'));
    const found = [...stats.matchAll(/cmdstat_(\S+?):calls=(\d+)/g)];
    return found.reduce((sum, [, name = '', n]) => sum + (names.includes(name) ? Number(n) : 0), 0);
  }

  /** The ids of the connections of this name that listen. */
  async listeners(name: string): Promise<string[]> {
    const list = String(await this.command('CLIENT', 'LIST', 'TYPE', 'pubsub')).split('\n');
    const named = list.filter((line) => line.includes(` name=${name} `));
    return named.map((line) => /^id=(\d+)/.exec(line)?.[1] ?? '');
  }

  get #socket(): string {
    return join(this.folder, 'socket');
  }
}

export async function closeAll(servers: readonly RedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.close()));
}
