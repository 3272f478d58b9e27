/** What the fault tests share: servers, stores and locks, which end with the test. */
import { randomBytes } from 'node:crypto';
import { createLocks, type Duration, type Locks, type Store } from 'holdfast';
import type { Claim } from 'holdfast/store';
import { test } from 'vitest';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Lifetime } from './lifetime.ts';

/** Three heartbeats fit even when the machine is busy, and a few lives fit into a test. */
export const TTL_MS: number = paced(1000);

/** A server is started, or promoted, in that time on the busiest machine. */
export const RESTART_TTL_MS: number = paced(15_000);

/** Nothing dies of old age in a test, however busy the machine. */
export const LONG_TTL_MS: number = paced(30_000);

/** A quarantine is felt, and the longest claim of a test fits. */
export const MAX_TTL_MS: number = paced(1200);

/** Where a server, or a proxy before it, listens. */
export type Place = { readonly host: string; readonly port: number };

/** What every kind of store may be told. */
export interface StoreOptions {
  readonly maxTtl?: Duration;
}

/** Of one kind of server. */
export abstract class Bed<
  Options extends StoreOptions = StoreOptions,
  At extends Place = Place,
> extends Lifetime {
  /** A server that provably has nothing to lose, so that nobody waits for the first grant. */
  abstract server(): Promise<At>;

  /** The longest ttl is `MAX_TTL_MS` unless the options say more. */
  abstract store(at: Place, options?: Options): Store;

  /** The same store as a URL, for other processes. */
  abstract urlOf(at: At, maxTtlMs: number): string;

  /** When everybody has left, nothing stays but what passes. */
  abstract expectNothingLeft(server: At): Promise<void>;

  /** A server, and what breaks the network before it. */
  async behindProxy(): Promise<{ readonly server: At; readonly proxy: TcpProxy }> {
    const server = await this.server();
    return { server, proxy: this.serve(await TcpProxy.start(server.port)) };
  }

  /** Everybody leaves, and nothing stays. */
  async end(server: At): Promise<void> {
    await this.leave();
    await this.expectNothingLeft(server);
  }

  locks(at: Place, options?: Options): Locks {
    return this.locksOn(this.store(at, options));
  }

  /** For what has nothing to do with time. */
  patientLocks(at: Place, options?: Options): Locks {
    const patient = { maxTtl: LONG_TTL_MS, ...options } as Options;
    return this.locksOn(this.store(at, patient), LONG_TTL_MS);
  }

  locksOn(store: Store, ttl: number = TTL_MS): Locks {
    const locks = createLocks(store, { ttl });
    this.use({ close: () => locks.close({ drain: 0 }) });
    return locks;
  }
}

/** Registers a test with a bed of its own. */
export type InBed<B> = (title: string, act: (bed: B) => Promise<void>) => void;

/** Registers a test with a bed of its own and a server. */
export type OnServer<B, At> = (title: string, act: (bed: B, server: At) => Promise<void>) => void;

/** Tests that run at the same time. */
export function inBeds<B extends AsyncDisposable>(newBed: () => B): InBed<B> {
  return (title, act) => test.concurrent(title, () => within(newBed, act));
}

/** Tests that run one after the other. */
export function inTurn<B extends AsyncDisposable>(newBed: () => B): InBed<B> {
  return (title, act) => test(title, () => within(newBed, act));
}

export function onServer<B extends AsyncDisposable, At>(
  newBed: () => B & { server(): Promise<At> },
): OnServer<B, At> {
  const inBed = inBeds(newBed);
  return (title, act) => inBed(title, async (bed) => act(bed, await bed.server()));
}

async function within<B extends AsyncDisposable>(
  newBed: () => B,
  act: (bed: B) => Promise<void>,
): Promise<void> {
  await using bed = newBed();
  await act(bed);
}

export function claimOf(resource: string, over: Partial<Claim> = {}): Claim {
  return {
    ...{ resource, id: randomBytes(16).toString('hex'), kind: 'mutex', permits: 1, limit: 1 },
    ...{ ttlMs: LONG_TTL_MS, queue: true, holder: { host: 'test', pid: process.pid, since: 0 } },
    ...over,
  };
}

/** So many stand in this queue. */
export async function hasWaiter(locks: Locks, name: string, count = 1): Promise<void> {
  await until(`waited ${count}`, async () => (await locks.inspect(name)).waiters.length === count);
}

/** So many hold this lock and so many wait for it. */
export async function stand(
  locks: Locks,
  name: string,
  holders: number,
  waiters: number,
): Promise<void> {
  await until(`did ${holders} hold and ${waiters} wait`, async () => {
    const queue = await locks.inspect(name);
    return queue.holders.length === holders && queue.waiters.length === waiters;
  });
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
