/** A program in Java with the real Curator, which takes locks as it is told. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { javaProgram, type ZookeeperServer } from '../../servers/zookeeper-server.ts';

const SOURCE = fileURLToPath(new URL('../../servers/children/curator.java', import.meta.url));

/** Nobody waits in vain for so long, in ms. */
const PATIENCE_MS = 25_000;

/** `mutex`: an `InterProcessMutex`; the others: the sides of an `InterProcessReadWriteLock`. */
export type CuratorKind = 'mutex' | 'read' | 'write';

type Ask = (...words: readonly string[]) => Promise<string>;

interface Asked {
  readonly resolve: (answer: string) => void;
  readonly reject: (error: Error) => void;
}

/** One process, with one session. */
export class Curator implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #server: ZookeeperServer;
  readonly #asked = new Map<number, Asked>();
  #questions = 0;
  #threads = 0;

  static async start(
    server: ZookeeperServer,
    { sessionTimeout = 20_000 }: { readonly sessionTimeout?: number } = {},
  ): Promise<Curator> {
    const [program = '', ...args] = await javaProgram(SOURCE, server.address, `${sessionTimeout}`);
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const curator = new Curator(server, child);
    // It answers when it is connected.
    await curator.session();
    return curator;
  }

  private constructor(server: ZookeeperServer, child: ChildProcess) {
    this.#server = server;
    this.#process = child;
    createInterface({ input: child.stdout! }).on('line', (line) => this.#hear(line));
    child.stdin!.on('error', () => {});
    child.once('exit', () => {
      for (const { reject } of this.#asked.values()) reject(new Error('the Java program is over'));
    });
  }

  /** A thread of its own: to Curator, who holds a lock is a thread. */
  thread(): CuratorThread {
    const name = `thread${++this.#threads}`;
    return new CuratorThread((...words) => this.#ask(name, ...words));
  }

  /** The id of its session. */
  async session(): Promise<bigint> {
    return BigInt(await this.#ask('main', 'session'));
  }

  /** As its timeout would end it, while the program goes on. */
  async endSession(): Promise<void> {
    await this.#server.endSession(await this.session());
  }

  /** As `kill -9` ends it: it gives nothing back. */
  async kill(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exit;
  }

  /** It closes its session, and ends. */
  async close(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    this.#process.stdin!.end();
    await exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #ask(...words: readonly string[]): Promise<string> {
    const number = ++this.#questions;
    return new Promise((resolve, reject) => {
      this.#asked.set(number, { resolve, reject });
      this.#process.stdin!.write(`${[number, ...words].join('\t')}\n`);
    });
  }

  #hear(line: string): void {
    const [number = '', outcome, answer = ''] = line.split('\t');
    const asked = this.#asked.get(Number(number));
    this.#asked.delete(Number(number));
    if (outcome === 'ok') asked?.resolve(answer);
    else asked?.reject(new Error(`Curator: ${answer}`));
  }
}

/** One thread of the program; what it is asked while it waits for a lock, it does afterwards. */
export class CuratorThread {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Waits until it has it. */
  async acquire(kind: CuratorKind, path: string): Promise<void> {
    if (await this.#acquire(kind, path, PATIENCE_MS)) return;
    throw new Error(`Curator waited for ${path} in vain`);
  }

  /** Whether it got it within so long, which is enough for two trips to the server. */
  tryAcquire(kind: CuratorKind, path: string): Promise<boolean> {
    return this.#acquire(kind, path, 300);
  }

  async release(kind: CuratorKind, path: string): Promise<void> {
    await this.#ask(kind, path, 'release');
  }

  /** Whether it believes that it holds it. */
  async holds(kind: CuratorKind, path: string): Promise<boolean> {
    return (await this.#ask(kind, path, 'held')) === 'true';
  }

  /** Takes the read lock while it has the write lock, which it then gives back. */
  async downgrade(path: string): Promise<void> {
    await this.#ask('downgrade', path);
  }

  /** It will release the lock that it acquires next when somebody asks for that. */
  async makeRevocable(kind: CuratorKind, path: string): Promise<void> {
    await this.#ask(kind, path, 'revocable');
  }

  /** The paths of the nodes in the queue, in order, as it sees them. */
  async participants(kind: CuratorKind, path: string): Promise<string[]> {
    const text = await this.#ask(kind, path, 'participants');
    return text === '' ? [] : text.split('|');
  }

  /** Adds one to the number in a node so many times, each time under the mutex at the path. */
  async add(path: string, { node, times }: { node: string; times: number }): Promise<void> {
    await this.#ask('add', path, node, `${times}`);
  }

  /** Waits until a `LeaderSelector` of this name leads. */
  async lead(path: string, name: string): Promise<void> {
    await this.#ask('lead', path, name);
  }

  async resign(path: string): Promise<void> {
    await this.#ask('resign', path);
  }

  /** Starts a `LeaderLatch`, which is no lock. */
  async startLatch(path: string): Promise<void> {
    await this.#ask('latch', path);
  }

  async #acquire(kind: CuratorKind, path: string, ms: number): Promise<boolean> {
    return (await this.#ask(kind, path, 'acquire', `${ms}`)) === 'true';
  }
}
