/** A program in Java with the real Curator, which takes locks as it is told. */
import {
  type ForeignCommand,
  ForeignProgram,
  type ForeignThread,
} from '../../methods/sharing/foreign-program.ts';
import { driverOn, javaDriver } from '../../methods/sharing/java.ts';
import type { Artifact } from '../../servers/maven.ts';
import {
  curatorClassPath,
  curatorVersion,
  type ZookeeperServer,
} from '../../servers/zookeeper-server.ts';
import { HANG_MS } from '../../support/this-run.ts';

/** Enough for two trips to the server, in ms. */
const TRY_MS = 300;

/** `mutex`: an `InterProcessMutex`; the others: the sides of an `InterProcessReadWriteLock`. */
export type CuratorKind = 'mutex' | 'read' | 'write';

export const CURATOR: Artifact = {
  group: 'org.apache.curator',
  name: 'curator-recipes',
  version: '5.9.0',
};

/** Of Curator 5.9.0, whose names are those below the path. */
export function newCurator(address: string, ms: number, path: string): Promise<ForeignCommand> {
  return javaDriver('CuratorDriver', CURATOR, address, `${ms}`, `${path}/`);
}

/** Of Debian's, whose names are paths. */
async function oldCurator(address: string, ms: number): Promise<ForeignCommand> {
  const name = `curator-recipes+${await curatorVersion()}`;
  const library = { name, path: await curatorClassPath() };
  return driverOn('CuratorDriver', library, address, `${ms}`, '');
}

/** One process, with one session. */
export class Curator implements AsyncDisposable {
  readonly #program: ForeignProgram;
  readonly #server: ZookeeperServer;

  static async start(
    server: ZookeeperServer,
    { sessionTimeout = 20_000 }: { readonly sessionTimeout?: number } = {},
  ): Promise<Curator> {
    const command = await oldCurator(server.address, sessionTimeout);
    return new Curator(server, await ForeignProgram.start(command));
  }

  private constructor(server: ZookeeperServer, program: ForeignProgram) {
    this.#server = server;
    this.#program = program;
  }

  thread(): CuratorThread {
    return new CuratorThread(this.#program.thread());
  }

  /** The id of its session. */
  async session(): Promise<bigint> {
    return BigInt(await this.#program.thread().ask('session'));
  }

  /** As its timeout would end it, while the program goes on. */
  async endSession(): Promise<void> {
    await this.#server.endSession(await this.session());
  }

  /** As `kill -9` ends it: it gives nothing back. */
  kill(): Promise<void> {
    return this.#program.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** One thread of the program; what it is asked while it waits for a lock, it does afterwards. */
export class CuratorThread {
  readonly #thread: ForeignThread;

  constructor(thread: ForeignThread) {
    this.#thread = thread;
  }

  /** Waits until it has it. */
  async acquire(kind: CuratorKind, path: string): Promise<void> {
    if (await this.#thread.acquire(kind, path, { wait: HANG_MS })) return;
    throw new Error(`Curator waited for ${path} in vain`);
  }

  tryAcquire(kind: CuratorKind, path: string): Promise<boolean> {
    return this.#thread.acquire(kind, path, { wait: TRY_MS });
  }

  release(kind: CuratorKind, path: string): Promise<void> {
    return this.#thread.release(kind, path);
  }

  /** Whether it believes that it holds it. */
  async holds(kind: CuratorKind, path: string): Promise<boolean> {
    return (await this.#thread.ask('held', kind, path)) === 'true';
  }

  /** Takes the read lock while it has the write lock, which it then gives back. */
  async downgrade(path: string): Promise<void> {
    await this.#thread.ask('downgrade', path);
  }

  /** It will release the lock that it acquires next when that is asked for. */
  async makeRevocable(kind: CuratorKind, path: string): Promise<void> {
    await this.#thread.ask('revocable', kind, path);
  }

  /** The paths of the nodes in the queue, in order, as it sees them. */
  async participants(kind: CuratorKind, path: string): Promise<string[]> {
    const text = await this.#thread.ask('participants', kind, path);
    return text === '' ? [] : text.split('|');
  }

  /** Adds one to the number in a node so many times, each time under the mutex at the path. */
  async add(path: string, { node, times }: { node: string; times: number }): Promise<void> {
    await this.#thread.ask('add', path, node, `${times}`);
  }

  /** Waits until a `LeaderSelector` of this name leads. */
  async select(path: string, name: string): Promise<void> {
    await this.#thread.ask('select', path, name);
  }

  async resign(path: string): Promise<void> {
    await this.#thread.ask('resign', path);
  }

  /** Waits until a `LeaderLatch` leads. */
  async lead(path: string): Promise<void> {
    await this.#thread.acquire('latch', path);
  }
}
