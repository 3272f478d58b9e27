/** Fenced locks that are shared with real programs in Java. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ForeignCommand, ForeignThread } from '../../methods/sharing/foreign-program.ts';
import { ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { javaDriver } from '../../methods/sharing/java.ts';
import { ownProgram } from '../../methods/sharing/own.ts';
import { crowdedTrial, trial } from '../../methods/sharing/trial.ts';
import {
  HAZELCAST,
  HazelcastCluster,
  missingHazelcast,
  SESSION_TTL_S,
} from '../../servers/hazelcast-cluster.ts';
import { missing } from '../../servers/programs.ts';
import { until } from '../../support/until.ts';

const why = (await missingHazelcast()) ?? (await missing('java'));
beforeEach(({ skip }) => skip(why !== undefined, why));

/** A request has long reached the members, in ms: they do not show who waits. */
const MOMENT_MS = 300;

const OPEN = fileURLToPath(new URL('open-fenced-lock.ts', import.meta.url));

let cluster: HazelcastCluster;
const commands: Record<'java' | 'ours', () => Promise<ForeignCommand>> = {
  java: () => javaDriver('HazelcastDriver', HAZELCAST, 'tests', ...cluster.addresses),
  ours: async () => ownProgram(OPEN, `${SESSION_TTL_S * 1000}`, ...cluster.addresses),
};
const start = async (side: 'java' | 'ours'): Promise<ForeignProgram> =>
  ForeignProgram.start(await commands[side]());
let java: ForeignProgram;
let ours: ForeignProgram;

beforeAll(async () => {
  if (why !== undefined) return;
  cluster = await HazelcastCluster.start();
  [java, ours] = await Promise.all([start('java'), start('ours')]);
});
afterAll(async () => {
  await Promise.all([java?.kill(), ours?.kill()]);
  await cluster?.close();
});

/** Less than the session, and enough on a busy machine: a request has a third of it. */
const LONG = { lease: 4000 };

let names = 0;
const newName = (): string => `shared${++names}`;
const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, MOMENT_MS));

test('it is the client of Java, in the version of the members', async () => {
  expect(await java.version()).toBe('5.4.0');
});

test('waiters of both kinds stand in one queue', async () => {
  const name = newName();
  const order: number[] = [];
  const threads = [java, ours, java, ours, ours, java].map((program) => program.thread());
  const turns = [];
  for (const [n, thread] of threads.entries()) {
    const enter = async (): Promise<void> => {
      await thread.acquire('mutex', name, LONG);
      order.push(n);
    };
    turns.push(enter());
    await moment();
  }
  for (const [n, thread] of threads.entries()) {
    await turns[n];
    expect(order).toHaveLength(n + 1);
    await thread.release('mutex', name);
  }
  expect(order).toEqual([0, 1, 2, 3, 4, 5]);
});

test('each excludes the other, and what Java took twice is free after two releases', async () => {
  const name = newName();
  const [theirs, own] = [java.thread(), ours.thread()];
  await theirs.acquire('mutex', name, LONG);
  await theirs.acquire('mutex', name, LONG);
  expect(await own.acquire('mutex', name, { wait: 0, ...LONG })).toBe(false);
  await theirs.release('mutex', name);
  expect(await own.acquire('mutex', name, { wait: 0, ...LONG })).toBe(false);
  await theirs.release('mutex', name);
  expect(await own.acquire('mutex', name, { wait: 0, ...LONG })).toBe(true);
  expect(await theirs.acquire('mutex', name, { wait: 0, ...LONG })).toBe(false);
  await own.release('mutex', name);
  expect(await theirs.acquire('mutex', name, { wait: 0, ...LONG })).toBe(true);
  await theirs.release('mutex', name);
});

/** Who holds, who waits, and what becomes of the holder. */
const LOSSES = [
  { holder: 'java', next: 'ours' },
  { holder: 'ours', next: 'java' },
] as const;

describe.each(LOSSES)('a holder of $holder', ({ holder, next }) => {
  const nextOf = (): ForeignThread => (next === 'java' ? java : ours).thread();

  test('that is killed makes way when its session ends', async () => {
    const name = newName();
    await using program = await start(holder);
    await program.thread().acquire('mutex', name, LONG);
    const thread = nextOf();
    const waiting = thread.acquire('mutex', name, LONG);
    await program.kill();
    expect(await waiting).toBe(true);
    await thread.release('mutex', name);
  });

  test('that stands still for longer than its session has lost the lock', async () => {
    const name = newName();
    await using program = await start(holder);
    const stopped = program.thread();
    await stopped.acquire('mutex', name, LONG);
    program.pause();
    const thread = nextOf();
    await thread.acquire('mutex', name, LONG);
    program.resume();
    if (holder === 'java') {
      await expect(stopped.release('mutex', name)).rejects.toThrow(/LockOwnershipLost/);
    } else {
      await until('lost', async () => (await stopped.ask('holds', 'mutex', name)) === 'false');
    }
    await thread.release('mutex', name);
    // It has a new session, and may have the lock again.
    expect(await stopped.acquire('mutex', name, LONG)).toBe(true);
    await stopped.release('mutex', name);
  });
});

test('four programs of either kind count in one file, and no number is lost', async () => {
  const terms = { kind: 'mutex', name: newName() };
  const { own, foreign } = await trial(await commands.ours(), await commands.java(), terms);
  // The queue in the members is fair: each had its turns.
  expect(Math.min(...own, ...foreign)).toBeGreaterThan(0);
  console.log(`turns of ours: ${own.join(', ')}; of Java: ${foreign.join(', ')}`);
});

test('many tasks of one process of ours leave turns to two programs in Java', async () => {
  const terms = { kind: 'mutex', name: newName() };
  await crowdedTrial(await commands.ours(), await commands.java(), terms);
});
