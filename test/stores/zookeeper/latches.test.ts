/**
 * Elections that are shared with Curator's `LeaderLatch`, and the long trial with its mutex, in a
 * newer version than that of interop.test.ts.
 */
import { createLocks, type Locks } from 'holdfast';
import { createElection } from 'holdfast/election';
import { zookeeperStore } from 'holdfast/zookeeper';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { countTogether, TRIAL_MS } from '../../methods/sharing/count.ts';
import { ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { javaDriver } from '../../methods/sharing/java.ts';
import { ownProgram } from '../../methods/sharing/own.ts';
import { missing } from '../../servers/programs.ts';
import { until } from '../../servers/until.ts';
import { startZookeeper, type ZookeeperServer } from '../../servers/zookeeper-server.ts';

const CURATOR = { group: 'org.apache.curator', name: 'curator-recipes', version: '5.9.0' };
const PATH = '/shared';

/** Of sessions in Java; ours are half as long again as a TTL. In ms. */
const SESSION_MS = 4000;
const TTL_MS = 2700;

const why = await missing('java');
beforeEach(({ skip }) => skip(why !== undefined, why));

let server: ZookeeperServer;
let java: ForeignProgram;
let ours: Locks;
const sides = {
  java: async () =>
    ForeignProgram.start(
      await javaDriver('CuratorDriver', CURATOR, server.address, `${SESSION_MS}`, PATH),
    ),
  ours: () => ForeignProgram.start(ownProgram('zookeeper', `${TTL_MS}`, server.url, PATH)),
};

beforeAll(async () => {
  if (why !== undefined) return;
  server = await startZookeeper();
  java = await sides.java();
  ours = createLocks(zookeeperStore(server.url, { path: PATH, latches: true }), { ttl: '20s' });
}, 90_000);
afterAll(async () => {
  await ours?.close({ drain: 0 });
  await java?.kill();
  await server?.close();
});

let names = 0;
const newName = (): string => `office${++names}`;

test('a latch in Java and candidates of ours lead in turn, and see each other', async () => {
  const name = newName();
  expect(await java.version()).toBe('5.9.0');
  const election = createElection(ours, name);
  const [first, third] = [java.thread(), java.thread()];
  await first.acquire('latch', name);
  const stands = async (count: number): Promise<void> => {
    const { standbys } = await election.standings();
    expect(standbys).toHaveLength(count);
  };
  expect((await election.standings()).leaders).toMatchObject([{ holder: { host: 'java' } }]);
  const candidate = election.campaign({ label: 'node' });
  await until('did it stand', () => stands(1).then(() => true));
  const last = third.acquire('latch', name);
  await until('did it stand', () => stands(2).then(() => true));
  expect(candidate.state).toBe('standby');
  await first.release('latch', name);
  await until('did it lead', async () => candidate.state === 'leader');
  expect(await java.thread().ask('leader', name)).toContain('"label":"node"');
  await candidate.resign();
  expect(await last).toBe(true);
  expect(await third.ask('leads', name)).toBe('true');
  await third.release('latch', name);
});

test('without the option, a latch is no lock of ours', async () => {
  const name = newName();
  const thread = java.thread();
  await thread.acquire('latch', name);
  const others = createLocks(zookeeperStore(server.url, { path: PATH }));
  const lease = await others.semaphore(name, { limit: 1 }).tryAcquire();
  expect(lease).not.toBeNull();
  await lease?.release();
  await others.close();
  expect(await ours.semaphore(name, { limit: 1 }).tryAcquire()).toBeNull();
  await thread.release('latch', name);
});

describe.each(['mutex', 'latch'])('a holder of a %s', (kind) => {
  test('in Java that is killed, or stands still, makes way when its session ends', async () => {
    const name = newName();
    const lock = kind === 'latch' ? ours.semaphore(name, { limit: 1 }) : ours.mutex(name);
    for (const end of ['kill', 'pause'] as const) {
      await using program = await sides.java();
      const thread = program.thread();
      await thread.acquire(kind, name);
      const next = lock.acquire();
      await program[end]();
      const lease = await next;
      if (end === 'pause') program.resume();
      // The latch listens to its session, and the mutex does not.
      if (end === 'pause' && kind === 'latch') {
        await until('told', async () => (await thread.ask('leads', name)) === 'false');
      }
      await lease.release();
    }
  });

  test('of ours that is killed, or stands still, makes way when its session ends', async () => {
    const name = newName();
    for (const end of ['kill', 'pause'] as const) {
      await using program = await sides.ours();
      const thread = program.thread();
      await thread.acquire(kind, name);
      const next = java.thread();
      const waiting = next.acquire(kind, name);
      await program[end]();
      expect(await waiting).toBe(true);
      if (end === 'pause') {
        program.resume();
        await until('told', async () => (await thread.ask('loss', name)) !== 'none');
      }
      await next.release(kind, name);
    }
  });
});

test.each(['mutex', 'latch'])(
  'four programs of either kind count in one file under a %s, and no number is lost',
  (kind) => countTogether(sides, [kind, newName()]),
  90_000 + TRIAL_MS,
);
