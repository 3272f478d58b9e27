/** A server, a Java program with Redisson, and our own locks on the same server. */
import { fileURLToPath } from 'node:url';
import { createLocks, type Lock, type Locks } from 'holdfast';
import { redissonStore } from 'holdfast/redisson';
import { Redis } from 'ioredis';
import { type ForeignCommand, ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { javaDriver } from '../../methods/sharing/java.ts';
import { ownProgram } from '../../methods/sharing/own.ts';
import type { ProgramName } from '../../servers/programs.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { OPTIONS } from './open.ts';

/** The newest 3.x, and one two years older, which has another script for unlocking. */
export const NEW = '3.52.0';
export const OLD = '3.23.5';

export const WORLDS: readonly { readonly program: ProgramName; readonly version: string }[] = [
  { program: 'redis', version: NEW },
  { program: 'valkey', version: NEW },
  { program: 'redis', version: OLD },
];

/** How long a lock of Redisson lives without its watchdog, here, in ms. */
export const WATCHDOG_MS = 1000;

const OPEN = fileURLToPath(new URL('open.ts', import.meta.url));

export class RedissonBed {
  readonly server: RedisServer;
  readonly client: Redis;
  readonly locks: Locks;
  readonly java: ForeignProgram;
  readonly #foreign: ForeignCommand;

  static async start(world: (typeof WORLDS)[number]): Promise<RedissonBed> {
    const server = await RedisServer.start({ program: world.program });
    const library = { group: 'org.redisson', name: 'redisson', version: world.version };
    const foreign = await javaDriver('RedissonDriver', library, server.url, `${WATCHDOG_MS}`);
    return new RedissonBed(server, foreign, await ForeignProgram.start(foreign));
  }

  private constructor(server: RedisServer, foreign: ForeignCommand, java: ForeignProgram) {
    this.server = server;
    this.java = java;
    this.#foreign = foreign;
    this.client = new Redis(server.url);
    this.locks = createLocks(redissonStore(this.client, OPTIONS));
  }

  /** Our lock of this kind, as Java names it. Its waiters are longer silent than a test lasts. */
  ours(kind: string, name: string, ttl = 120_000): Lock {
    const options = { ttl, fair: true };
    if (kind === 'read' || kind === 'write') return this.locks.rwLock(name, options)[kind];
    if (kind === 'permit') return this.locks.semaphore(name, { ...options, limit: 1 });
    return this.locks.mutex(name, options);
  }

  /** How to start a Java program, or one of our own. */
  command(whose: 'java' | 'own'): ForeignCommand {
    return whose === 'java' ? this.#foreign : ownProgram(OPEN, this.server.url);
  }

  async close(): Promise<void> {
    await this.locks.close();
    await this.java.close();
    this.client.disconnect();
    await this.server.close();
  }
}
