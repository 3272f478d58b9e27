/** Plain locks shared with the real libraries of Go and Python, on one server. */
import { fileURLToPath } from 'node:url';
import { createLocks, type Locks } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ForeignCommand, ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { goDriver, missingDriver } from '../../methods/sharing/go.ts';
import { ownProgram } from '../../methods/sharing/own.ts';
import { missingPython, pythonDriver } from '../../methods/sharing/python.ts';
import { trial } from '../../methods/sharing/trial.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { open } from './open-plain.ts';

const OPEN = fileURLToPath(new URL('open-plain.ts', import.meta.url));
const LONG = 60_000;
/** A lease that ends in a test, in ms. */
const SHORT = 1000;

const LIBRARIES = [
  {
    ...{ library: 'redsync', version: 'v4.18.1', missing: await missingDriver('redis') },
    start: (server: RedisServer) => goDriver('redis', 'redsync', `${server.host}:${server.port}`),
  },
  {
    ...{ library: 'redislock', version: 'v0.9.4', missing: await missingDriver('redis') },
    start: (server: RedisServer) => goDriver('redis', 'redislock', `${server.host}:${server.port}`),
  },
  {
    ...{ library: 'redis-py', version: '6.1.0', missing: await missingPython() },
    start: (server: RedisServer) => pythonDriver(server.url),
  },
];

describe.each(LIBRARIES)('beside $library', ({ version, missing, start }) => {
  let server: RedisServer;
  let locks: Locks;
  let foreign: ForeignCommand;
  let program: ForeignProgram;
  beforeAll(async () => {
    if (missing !== undefined) return;
    server = await RedisServer.start();
    locks = createLocks(open(server.url));
    foreign = await start(server);
    program = await ForeignProgram.start(foreign);
  });
  afterAll(async () => {
    await locks?.close();
    await program?.close();
    await server?.close();
  });
  const given = (name: string, work: () => Promise<void>, ms = 30_000): void => {
    it(
      name,
      async (context) => {
        if (missing !== undefined) context.skip(missing);
        await work();
      },
      ms,
    );
  };

  given('it is the version that it is said to be', async () => {
    expect(await program.version()).toBe(version);
  });

  given('what one holds, the other does not get, and waits for', async () => {
    const theirs = program.thread();
    expect(await theirs.acquire('mutex', 'a', { wait: 0, lease: LONG })).toBe(true);
    expect(await locks.mutex('a').tryAcquire()).toBeNull();
    const ours = locks.mutex('a').acquire();
    await theirs.release('mutex', 'a');
    const lease = await ours;
    expect(await theirs.acquire('mutex', 'a', { wait: 0, lease: LONG })).toBe(false);
    const second = theirs.acquire('mutex', 'a', { wait: 10_000, lease: LONG });
    await lease.release();
    expect(await second).toBe(true);
    await theirs.release('mutex', 'a');
  });

  given('what a killed program held ends with its lease', async () => {
    const dead = await ForeignProgram.start(foreign);
    expect(await dead.thread().acquire('mutex', 'b', { wait: 0, lease: SHORT })).toBe(true);
    await dead.kill();
    await (await locks.mutex('b').acquire({ wait: '10s' })).release();
    const own = await ForeignProgram.start(ownProgram(OPEN, server.url));
    expect(await own.thread().acquire('mutex', 'b', { wait: 0, lease: SHORT })).toBe(true);
    await own.kill();
    const theirs = program.thread();
    expect(await theirs.acquire('mutex', 'b', { wait: 10_000, lease: LONG })).toBe(true);
    await theirs.release('mutex', 'b');
  });

  given('a program of either kind that stood still leaves the next holder alone', async () => {
    const own = await ForeignProgram.start(ownProgram(OPEN, server.url));
    const other = await ForeignProgram.start(foreign);
    const [ours, theirs] = [own.thread(), other.thread()];
    await ours.acquire('mutex', 'c', { lease: SHORT });
    own.pause();
    expect(await theirs.acquire('mutex', 'c', { wait: 10_000, lease: SHORT })).toBe(true);
    other.pause();
    own.resume();
    expect(await ours.ask('holds', 'mutex', 'c')).toBe('false');
    const next = await locks.mutex('c').acquire({ wait: '10s' });
    other.resume();
    await theirs.release('mutex', 'c').catch(() => {});
    await ours.release('mutex', 'c');
    expect(await program.thread().acquire('mutex', 'c', { wait: 0, lease: LONG })).toBe(false);
    expect(next).toHaveProperty('held', true);
    await next.release();
    await own.kill();
    await other.kill();
  });

  given('four processes of each kind count exactly', async () => {
    const lock = { kind: 'mutex', name: 'trial' };
    const counts = await trial(ownProgram(OPEN, server.url), foreign, lock);
    const all = [...counts.own, ...counts.foreign];
    expect(counts.counted).toBe(all.reduce((sum, times) => sum + times, 0));
    for (const side of [counts.own, counts.foreign]) expect(Math.max(...side)).toBeGreaterThan(0);
  });
});
