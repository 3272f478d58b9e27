/** A server, a Java program with Redisson, and our own locks on the same server. */
import { fileURLToPath } from 'node:url';
import { createLocks, type Lock, type Locks } from 'holdfast';
import { redissonStore } from 'holdfast/redisson';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import type { ForeignCommand, ForeignThread } from '../../methods/sharing/foreign-program.ts';
import { ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { javaDriver } from '../../methods/sharing/java.ts';
import { ownProgram } from '../../methods/sharing/own.ts';
import type { Artifact } from '../../servers/maven.ts';
import type { ProgramName } from '../../servers/programs.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import type { TcpProxy } from '../../servers/tcp-proxy.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { OPTIONS, optionsOf } from './open.ts';

/** The newest 3.x, and one two years older, which has another script for unlocking. */
export const NEW = '3.52.0';
export const OLD = '3.23.5';

export function libraryOf(version: string): Artifact {
  return { group: 'org.redisson', name: 'redisson', version };
}

type World = { readonly program: ProgramName; readonly version: string };

export const WORLDS: readonly World[] = [
  { program: 'redis', version: NEW },
  { program: 'valkey', version: NEW },
  { program: 'redis', version: OLD },
];

/** How long a lock of Redisson lives without its watchdog, here, in ms. */
export const WATCHDOG_MS: number = paced(2000);

/** How long either side waits for what a lease of the other keeps it from, in ms. */
export const PATIENCE_MS: number = paced(10_000);

/** Long enough that, within a test, only a message can end a wait, in ms. */
export const LONG = 60_000;

/** A message that says nothing to Redisson. */
const NO_NEWS = 7;

const OPEN = fileURLToPath(new URL('open.ts', import.meta.url));

export class RedissonBed {
  readonly server: RedisServer;
  readonly client: Redis;
  readonly locks: Locks;
  /** Their mutexes are fair locks in Java. */
  readonly fair: Locks;
  readonly java: ForeignProgram;
  readonly #version: string;
  readonly #foreign: ForeignCommand;

  static async start({ program, version }: World): Promise<RedissonBed> {
    const server = await RedisServer.start({ program });
    const foreign = await programAt(server.url, version);
    return new RedissonBed(server, { version, foreign }, await ForeignProgram.start(foreign));
  }

  private constructor(
    server: RedisServer,
    { version, foreign }: { readonly version: string; readonly foreign: ForeignCommand },
    java: ForeignProgram,
  ) {
    this.server = server;
    this.java = java;
    this.#version = version;
    this.#foreign = foreign;
    this.client = new Redis(server.url);
    this.locks = createLocks(redissonStore(this.client, OPTIONS));
    this.fair = createLocks(redissonStore(this.client, optionsOf('fair')));
  }

  /** Our lock of this kind, as Java names it. Its waiters are longer silent than a test lasts. */
  ours(kind: string, name: string, ttl = 120_000): Lock {
    const options = { ttl, fair: true };
    if (kind === 'read' || kind === 'write') return this.locks.rwLock(name, options)[kind];
    if (kind === 'permit') return this.locks.semaphore(name, { ...options, limit: 1 });
    return (kind === 'fair' ? this.fair : this.locks).mutex(name, options);
  }

  /** A thread in Java that holds it for longer than a test lasts. */
  async javaHolds(kind: string, name: string): Promise<ForeignThread> {
    const thread = this.java.thread();
    expect(await thread.acquire(kind, name, { lease: LONG })).toBe(true);
    return thread;
  }

  /** How to start a Java program, or one of our own, for locks of this kind. */
  command(whose: 'java' | 'own', kind: string): ForeignCommand {
    if (whose === 'java') return this.#foreign;
    return ownProgram(OPEN, this.server.url, kind === 'fair' ? 'fair' : 'lock');
  }

  /** Another Java program, whose connections lead through the proxy. */
  async javaBehind({ host, port }: TcpProxy): Promise<ForeignProgram> {
    return ForeignProgram.start(await programAt(`redis://${host}:${port}`, this.#version));
  }

  /** How many scripts the server has run. */
  scripts(): Promise<number> {
    return this.server.calls('eval', 'evalsha');
  }

  /** Returns once Redisson in this program has seen to all messages about this lock so far. */
  async heard(java: ForeignProgram, kind: string, name: string): Promise<void> {
    const channel = channelOf(kind, name);
    let heard = false;
    const hearing = java.thread().ask('hear', channel, `${NO_NEWS}`);
    hearing.then(
      () => (heard = true),
      () => {},
    );
    // It may not listen yet.
    await until('was it heard', async () => {
      await this.client.publish(channel, `${NO_NEWS}`);
      return heard;
    });
  }

  /** How many listen for a lock of this kind to become free; a fair lock tells each apart. */
  async listeners(kind: string, name: string): Promise<number> {
    const channel = channelOf(kind, name);
    if (kind === 'fair') {
      const heard = await this.server.command('PUBSUB', 'CHANNELS', `${channel}:*`);
      return (heard as readonly string[]).length;
    }
    const [, count] = (await this.server.command('PUBSUB', 'NUMSUB', channel)) as unknown[];
    return Number(count);
  }

  /**
   * Returns once a thread in Java sleeps until it is told of a release. It tries once more after it
   * has begun to listen; a thread that came later and has given up is past that point.
   */
  async javaSleeps(kind: string, name: string): Promise<void> {
    await expect.poll(() => this.listeners(kind, name)).toBeGreaterThan(1);
    expect(await this.java.thread().acquire(kind, name, { wait: 200 })).toBe(false);
  }

  async close(): Promise<void> {
    await this.locks.close();
    await this.fair.close();
    await this.java.close();
    this.client.disconnect();
    await this.server.close();
  }
}

export function programAt(
  url: string,
  version: string,
  ...topology: readonly 'cluster'[]
): Promise<ForeignCommand> {
  return javaDriver('RedissonDriver', libraryOf(version), url, `${WATCHDOG_MS}`, ...topology);
}

/** Where Redisson says that a lock of this kind is free. */
export function channelOf(kind: string, name: string): string {
  const channels: Readonly<Record<string, string>> = {
    ...{ mutex: 'redisson_lock__channel', fair: 'redisson_lock__channel', read: 'redisson_rwlock' },
    ...{ write: 'redisson_rwlock', permit: 'redisson_sc' },
  };
  return `${channels[kind]}:{${name}}`;
}

/**
 * Java waits for it, in all for as long as others do. Before 3.32.0 a waiter for a fair lock may
 * sleep until its own time is over, though the holder has died.
 */
export async function soon(
  thread: ForeignThread,
  { kind, name, lease }: { readonly kind: string; readonly name: string; readonly lease: number },
): Promise<boolean> {
  for (let tries = 0; tries < 4; tries++) {
    if (await thread.acquire(kind, name, { wait: paced(2500), lease })) return true;
  }
  return false;
}
