/**
 * Elections that are shared with Curator's `LeaderLatch`, and the long trial with its mutex, in a
 * newer version than that of interop.test.ts.
 */
import { fileURLToPath } from 'node:url';
import { createLocks, type Locks } from 'holdfast';
import { createElection } from 'holdfast/election';
import { zookeeperStore } from 'holdfast/zookeeper';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ForeignCommand, ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { javaDriver } from '../../methods/sharing/java.ts';
import { ownProgram } from '../../methods/sharing/own.ts';
import { trial } from '../../methods/sharing/trial.ts';
import { missing } from '../../servers/programs.ts';
import { until } from '../../servers/until.ts';
import { startZookeeper, type ZookeeperServer } from '../../servers/zookeeper-server.ts';

const CURATOR = { group: 'org.apache.curator', name: 'curator-recipes', version: '5.9.0' };
const PATH = '/shared';

const OPEN = fileURLToPath(new URL('open-latches.ts', import.meta.url));

/** Of sessions in Java, in ms. */
const SESSION_MS = 4000;

const why = await missing('java');
beforeEach(({ skip }) => skip(why !== undefined, why));

let server: ZookeeperServer;
let java: ForeignProgram;
let ours: Locks;
const commands: Record<'java' | 'ours', () => Promise<ForeignCommand>> = {
  java: () => javaDriver('CuratorDriver', CURATOR, server.address, `${SESSION_MS}`, PATH),
  ours: async () => ownProgram(OPEN, server.url, PATH),
};
const start = async (side: 'java' | 'ours'): Promise<ForeignProgram> =>
  ForeignProgram.start(await commands[side]());

beforeAll(async () => {
  if (why !== undefined) return;
  server = await startZookeeper();
  java = await start('java');
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
  await first.acquire('permit', name);
  const stands = async (count: number): Promise<void> => {
    const { standbys } = await election.standings();
    expect(standbys).toHaveLength(count);
  };
  expect((await election.standings()).leaders).toMatchObject([{ holder: { host: 'java' } }]);
  const candidate = election.campaign({ label: 'node' });
  await until('did it stand', () => stands(1).then(() => true));
  const last = third.acquire('permit', name);
  await until('did it stand', () => stands(2).then(() => true));
  expect(candidate.state).toBe('standby');
  await first.release('permit', name);
  await until('did it lead', async () => candidate.state === 'leader');
  expect(await java.thread().ask('leader', name)).toContain('"label":"node"');
  await candidate.resign();
  expect(await last).toBe(true);
  expect(await third.ask('leads', name)).toBe('true');
  await third.release('permit', name);
});

test('without the option, a latch is no lock of ours', async () => {
  const name = newName();
  const thread = java.thread();
  await thread.acquire('permit', name);
  const others = createLocks(zookeeperStore(server.url, { path: PATH }));
  const lease = await others.semaphore(name, { limit: 1 }).tryAcquire();
  expect(lease).not.toBeNull();
  await lease?.release();
  await others.close();
  expect(await ours.semaphore(name, { limit: 1 }).tryAcquire()).toBeNull();
  await thread.release('permit', name);
});

describe.each(['mutex', 'permit'])('a holder of a %s', (kind) => {
  test('in Java that is killed, or stands still, makes way when its session ends', async () => {
    const name = newName();
    const lock = kind === 'permit' ? ours.semaphore(name, { limit: 1 }) : ours.mutex(name);
    for (const end of ['kill', 'pause'] as const) {
      await using program = await start('java');
      const thread = program.thread();
      await thread.acquire(kind, name);
      const next = lock.acquire();
      await program[end]();
      const lease = await next;
      if (end === 'pause') program.resume();
      // The latch listens to its session, and the mutex does not.
      if (end === 'pause' && kind === 'permit') {
        await until('told', async () => (await thread.ask('leads', name)) === 'false');
      }
      await lease.release();
    }
  });

  test('of ours that is killed, or stands still, makes way when its session ends', async () => {
    const name = newName();
    for (const end of ['kill', 'pause'] as const) {
      await using program = await start('ours');
      const thread = program.thread();
      await thread.acquire(kind, name);
      const next = java.thread();
      const waiting = next.acquire(kind, name);
      await program[end]();
      expect(await waiting).toBe(true);
      if (end === 'pause') {
        program.resume();
        await until('told', async () => (await thread.ask('holds', kind, name)) === 'false');
      }
      await next.release(kind, name);
    }
  });
});

test.each(['mutex', 'permit'])(
  'four programs of either kind count under a %s',
  async (kind) => {
    const terms = { kind, name: newName() };
    const { counted, own, foreign } = await trial(
      await commands.ours(),
      await commands.java(),
      terms,
    );
    const counts = [...own, ...foreign];
    expect(counted).toBe(counts.reduce((one, other) => one + other, 0));
    expect(Math.min(...counts)).toBeGreaterThan(0);
    console.log(`turns of ours: ${own.join(', ')}; of Java: ${foreign.join(', ')}`);
  },
  180_000,
);
