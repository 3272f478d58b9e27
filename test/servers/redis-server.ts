/**
 * A real server in a folder of its own. It ends with this process: if that is killed, the kernel
 * kills the server on Linux; elsewhere only an orderly end takes it along.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, giveBack } from './ports.ts';
import { findProgram, type ProgramName } from './programs.ts';

export interface RedisServerOptions {
  /** Default: `redis`. */
  readonly program?: ProgramName;
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

/** How long a server may take until it answers, in ms: only one that hangs takes longer. */
const PATIENCE_MS = 20_000;

const MORTAL = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL', '--'] : [];

const open = new Set<RedisServer>();
process.once('exit', () => {
  for (const server of open) server.closeNow();
});

export class RedisServer {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly folder: string;
  readonly #command: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #persistent: boolean;
  #process: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const program = await findProgram(options.program ?? 'redis');
    const server = new RedisServer(program, options.port ?? (await freePort()), options);
    open.add(server);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  private constructor(program: readonly string[], port: number, options: RedisServerOptions) {
    const { config = [], persistent = false, sentinel = false, files = {}, env } = options;
    this.port = port;
    this.folder = mkdtempSync(join(tmpdir(), 'holdfast-redis-'));
    this.#persistent = persistent;
    this.#env = { ...process.env, ...env };
    const lines = [
      `port ${port}`,
      `bind ${this.host}`,
      `dir ${this.folder}`,
      `unixsocket ${this.#socket}`,
      `logfile ${join(this.folder, 'log')}`,
      'save ""',
      `appendonly ${persistent ? 'yes' : 'no'}`,
      'appendfsync always',
    ];
    const file = join(this.folder, 'redis.conf');
    writeFileSync(file, [...(sentinel ? lines.slice(0, 5) : lines), ...config, ''].join('\n'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.folder, name), text);
    this.#command = [...MORTAL, ...program, file, ...(sentinel ? ['--sentinel'] : [])];
  }

  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  get running(): boolean {
    return this.#process !== undefined;
  }

  get pid(): number {
    if (this.#process?.pid === undefined) throw new Error('the server is not running');
    return this.#process.pid;
  }

  /** What it has logged, from its first start on. */
  get log(): string {
    try {
      return readFileSync(join(this.folder, 'log'), 'utf8');
    } catch {
      return '';
    }
  }

  /** Starts it on the same port, with the data that it left. */
  async start(): Promise<void> {
    if (this.running) throw new Error('the server is running');
    const [program = '', ...args] = this.#command;
    const child = spawn(program, args, { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (text: Buffer): void => {
      output += text;
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    this.#process = child;
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        if (this.#process === child) this.#process = undefined;
        resolve();
      };
      child.once('exit', end);
      child.once('error', (error) => {
        output += error;
        end();
      });
    });
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await this.#answers())) {
      if (this.#process !== child || performance.now() > deadline) {
        throw new Error(`the server did not start: ${output}${this.log}`);
      }
    }
  }

  /** Ends it as an administrator does. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** It stands still: connections stay open and nothing is answered. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  /** Crashes it and starts it again. To keep its data it has to be persistent. */
  async restart({ keepData }: { readonly keepData: boolean }): Promise<void> {
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
      commandTimeout: PATIENCE_MS,
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

  /** Ends it and removes its folder. */
  async close(): Promise<void> {
    await this.kill();
    this.closeNow();
  }

  /** The same for one who cannot wait. */
  closeNow(): void {
    this.#process?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
    giveBack(this.port);
    open.delete(this);
  }

  get #socket(): string {
    return join(this.folder, 'socket');
  }

  async #answers(): Promise<boolean> {
    try {
      return (await this.command('PING')) === 'PONG';
    } catch {
      return false;
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#process?.kill(signal);
    await this.#ended;
  }
}

export async function closeAll(servers: readonly RedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.close()));
}
