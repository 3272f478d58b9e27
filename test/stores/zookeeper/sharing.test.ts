/** Curator's recipes, shared with a program in Java with the newest of them, in both directions. */
import { evict, type Locks } from 'holdfast';
import { createElection } from 'holdfast/election';
import { zookeeperStore } from 'holdfast/zookeeper';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Recipe } from '../../../src/stores/zookeeper/layout.ts';
import { hasWaiter } from '../../methods/faults/bed.ts';
import { ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { LEASE_MS, pairSuite } from '../../methods/sharing/pair-suite.ts';
import { until } from '../../support/until.ts';
import { newCurator } from './curator.ts';
import { Bed, sharedServer } from './fault-bed.ts';

/** Of sessions in Java, as long as ours are. */
const SESSION_MS = 1.5 * LEASE_MS;

const server = await sharedServer();

describe.each([
  { name: 'InterProcessMutex', recipe: 'locks', kind: 'mutex' },
  { name: 'LeaderLatch', recipe: 'latch', kind: 'latch' },
  { name: 'InterProcessSemaphoreV2', recipe: 'semaphore', kind: 'permit' },
] as const)('$name', ({ name, recipe, kind }) => {
  const path = `/${kind}`;
  pairSuite(name, {
    kind,
    foreign: () => newCurator(server.address, SESSION_MS, path),
    own: () => ['zookeeper', server.url, { path, recipe }],
    // Curator deletes its node, and takes no notice when that is gone.
    tellsLoss: false,
  });
});

describe('both sides of', () => {
  let java: ForeignProgram;
  let why: string | undefined;
  const bed = new Bed(server);
  beforeAll(async () => {
    const command = newCurator(server.address, 20_000, '/both');
    why = await command.then(
      () => undefined,
      (error: Error) => `not promised: a program in Java: ${error.message}`,
    );
    if (why === undefined) java = await ForeignProgram.start(await command);
  });
  beforeEach(({ skip }) => skip(why !== undefined, why));
  afterAll(async () => {
    await bed.leave();
    await java?.kill();
  });

  function ours(recipe: Recipe): Locks {
    return bed.locksOn(zookeeperStore(server.url, { path: '/both', recipe }), 20_000);
  }

  test('an election lead in turn, and see each other', async () => {
    expect(await java.version()).toBe('5.9.0');
    const locks = ours('latch');
    const election = createElection(locks, 'office');
    const [first, third] = [java.thread(), java.thread()];
    await first.acquire('latch', 'office');
    expect((await election.standings()).leaders).toMatchObject([{ holder: { host: 'java' } }]);
    const candidate = election.campaign({ label: 'node' });
    await hasWaiter(locks, 'office', 1);
    const last = third.acquire('latch', 'office');
    await hasWaiter(locks, 'office', 2);
    expect(candidate.state).toBe('standby');
    await first.release('latch', 'office');
    await until('did it lead', async () => candidate.state === 'leader');
    expect(await java.thread().ask('leader', 'office')).toContain('"label":"node"');
    await candidate.resign();
    expect(await last).toBe(true);
    expect(await third.ask('leads', 'office')).toBe('true');
    await third.release('latch', 'office');
  });

  test('a latch: one in Java learns of our end, however that comes', async () => {
    const locks = ours('latch');
    const ends = {
      minHold: async () => {
        const lease = await locks.mutex('ends', { minHold: 300 }).acquire();
        return () => lease.release();
      },
      evicted: async () => {
        const { token } = await locks.mutex('ends').acquire();
        const now = { token, reason: 'it hangs', now: true };
        await expect(evict(locks, 'ends', { ...now, now: false })).rejects.toMatchObject({
          ...{ code: 'STORE', retryable: false, outcome: 'failed' },
        });
        return () => evict(locks, 'ends', now);
      },
    };
    for (const begin of Object.values(ends)) {
      const end = await begin();
      const next = java.thread();
      const leads = next.acquire('latch', 'ends');
      await hasWaiter(locks, 'ends', 1);
      await end();
      expect(await leads).toBe(true);
      await next.release('latch', 'ends');
    }
  });

  test('a semaphore: no more than its permits are inside, of any side', async () => {
    const locks = ours('semaphore');
    const semaphore = locks.semaphore('seats', { limit: 3 });
    let [inside, most] = [0, 0];
    const visit = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
    };
    const theirs = async (): Promise<void> => {
      const thread = java.thread();
      for (let turn = 0; turn < 20; turn++) {
        await thread.acquire('permit3', 'seats');
        await visit();
        await thread.release('permit3', 'seats');
      }
    };
    const own = async (): Promise<void> => {
      for (let turn = 0; turn < 20; turn++) await semaphore.run(visit);
    };
    await Promise.all([theirs(), own(), theirs(), own(), theirs(), own()]);
    expect(most).toBe(3);
  });

  test('a semaphore: one that wants several waits for them, and blocks the others', async () => {
    const locks = ours('semaphore');
    const semaphore = locks.semaphore('several', { limit: 3 });
    const [first, second, third] = [java.thread(), java.thread(), java.thread()];
    await first.acquire('permit3', 'several');
    await second.acquire('permit3', 'several');
    const both = semaphore.acquire({ permits: 2 });
    // The second of its permits has no room.
    await hasWaiter(locks, 'several', 1);
    const behind = third.acquire('permit3', 'several');
    await hasWaiter(locks, 'several', 2);
    await first.release('permit3', 'several');
    const lease = await both;
    expect((await locks.inspect('several')).holders).toHaveLength(3);
    expect(lease).toHaveProperty('held', true);
    await second.release('permit3', 'several');
    expect(await behind).toBe(true);
    await third.release('permit3', 'several');
    await lease.release();
  });

  test('a semaphore: what it cannot carry is refused before anything is made', async () => {
    const locks = ours('semaphore');
    await expect(locks.rwLock('refused').read.acquire()).rejects.toMatchObject({
      code: 'MISMATCH',
    });
    const semaphore = locks.semaphore('refused', { limit: 200 });
    await expect(semaphore.acquire({ permits: 101 })).rejects.toMatchObject({ code: 'STORE' });
    expect((await locks.inspect('refused')).holders).toEqual([]);
  });
});
