/**
 * Locks that are shared with the real Curator, and so with programs in Java. It is a 5.4: from 5.5
 * on its downgraded readers keep their place, which is played here.
 */
import { randomUUID } from 'node:crypto';
import { evict, list, type Member } from 'holdfast';
import { afterAll, expect, test } from 'vitest';
import { inBeds, sleep } from '../../methods/faults/bed.ts';
import { listed } from '../../support/listed.ts';
import { patiently } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import { Both, MOMENT_MS, type Sides, type Wish } from './both.ts';
import { startCurator } from './curator.ts';
import { sharedServer } from './fault-bed.ts';

const inBed = inBeds(() => new Both(sides));

const server = await sharedServer();
const sides: Sides = { server, curator: await startCurator(server) };
afterAll(() => sides.curator.kill());

interface Line {
  readonly who: string;
  readonly wishes: readonly Wish[];
  /** Who is inside: at first, and whenever the first of those inside has left. */
  readonly inside: readonly (readonly number[])[];
}

const LINES: readonly Line[] = [
  {
    who: 'mutexes: ours, Java, ours, Java',
    wishes: ['ours mutex', 'java mutex', 'ours mutex', 'java mutex'],
    inside: [[0], [1], [2], [3], []],
  },
  {
    who: 'readers of both, our writer, readers of both, a writer in Java, our reader',
    wishes: [
      ...(['java read', 'ours read', 'ours write', 'ours read', 'java read'] as const),
      ...(['java write', 'ours read'] as const),
    ],
    inside: [[0, 1], [1], [2], [3, 4], [4], [5], [6], []],
  },
  {
    who: 'our reader, a writer in Java, readers of both, our writer, a reader in Java',
    wishes: [
      ...(['ours read', 'java write', 'java read', 'ours read', 'ours write'] as const),
      ...(['java read'] as const),
    ],
    inside: [[0], [1], [2, 3], [3], [4], [5], []],
  },
];

test.concurrent.each(LINES)('in the order of arrival: $who', async ({ wishes, inside }) => {
  await using bed = new Both(sides);
  await bed.lineUp(...wishes);
  for (const [n, numbers] of inside.entries()) {
    await bed.expectInside(...numbers);
    await bed.stand(numbers.length, wishes.length - n - numbers.length);
    if (numbers[0] !== undefined) await bed.goes(numbers[0]);
  }
  expect(await bed.children()).toEqual([]);
});

inBed('readers in Java get in beside our downgraded writer, writers not', async (bed) => {
  await bed.lineUp('ours write', 'java read', 'ours read', 'java write', 'java read');
  await bed.expectInside(0);
  await bed.downgrade(0);
  await bed.expectInside(0, 1, 2);
  await bed.goes(1);
  await bed.goes(2);
  await bed.expectInside(0);
  await bed.goes(0);
  await bed.expectInside(3);
  await bed.goes(3);
  await bed.expectInside(4);
});

inBed('our readers get in beside a downgraded writer in Java, writers not', async (bed) => {
  await bed.lineUp('java write', 'ours read');
  await bed.expectInside(0);
  await bed.downgrade(0);
  await bed.expectInside(0, 1);
  await bed.lineUp('ours write', 'ours read');
  await bed.goes(1);
  await bed.expectInside(0);
  await bed.goes(0);
  await bed.expectInside(2);
  await bed.goes(2);
  await bed.expectInside(3);
});

inBed('a downgraded reader of Curator 5.5 keeps its place before a writer', async (bed) => {
  const node = (name: string): string => `${bed.lock}/_c_${randomUUID()}-${name}`;
  await bed.looking.create(bed.path);
  await bed.looking.create(bed.lock, { kind: 'container' });
  const writer = await bed.looking.create(node('__WRIT__'), { kind: 'ephemeral-sequential' });
  await bed.lineUp('ours write', 'ours read');
  await bed.expectInside();
  const reader = node(`__READ__${writer.path.slice(-10)}`);
  await bed.looking.create(reader, { kind: 'ephemeral' });
  await bed.looking.delete(writer.path);
  await bed.expectInside();
  await bed.looking.delete(reader);
  await bed.expectInside(0);
  await bed.goes(0);
  await bed.expectInside(1);
});

inBed('what a Java program that was killed held is free after its session', async (bed) => {
  await using killed = await startCurator(sides.server, 4000);
  await killed.thread().acquire('mutex', bed.lock);
  const waiting = killed.thread().acquire('mutex', bed.lock);
  waiting.catch(() => {});
  await bed.stand(1, 1);
  const next = patiently(bed.ours().mutex(bed.name));
  await bed.stand(1, 2);
  await killed.kill();
  const lease = await next;
  expect(await bed.children()).toHaveLength(1);
  // It may as well have released it.
  expect(lease.takeover).toBeUndefined();
  const after = patiently(bed.ours().mutex(bed.name));
  await bed.stand(1, 1);
  await lease.release();
  expect((await after).takeover).toEqual({ reason: 'released', token: lease.token });
});

/** Shown as a stranger: who it is is known only as far as Curator says. */
const STRANGER: Partial<Member['holder']> = { host: '127.0.0.1', pid: 0, label: 'not of Holdfast' };

inBed('strangers are shown, as we are to them', async (bed) => {
  await bed.lineUp('java read', 'ours read', 'java write', 'ours write');
  const { holders, waiters } = await bed.ours().inspect(bed.name);
  const own = { holder: { pid: process.pid } };
  expect([holders.length, waiters.length]).toEqual([2, 2]);
  expect([...holders, ...waiters]).toMatchObject([
    { kind: 'read', holder: STRANGER },
    { kind: 'read', ...own },
    { kind: 'write', holder: STRANGER },
    { kind: 'write', ...own },
  ]);
  const numbers = [...holders, ...waiters].map(({ number }) => number);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => (a < b ? -1 : 1)));
  const thread = sides.curator.thread();
  const readers = await thread.ask('participants', 'read', bed.lock);
  const writers = await thread.ask('participants', 'write', bed.lock);
  const seen = [...readers.split('|'), ...writers.split('|')];
  expect(seen.map((path) => path.slice(`${bed.lock}/_c_${randomUUID()}-`.length))).toEqual([
    ...['__READ__0000000000', '__READ__0000000001', '__WRIT__0000000002', '__WRIT__0000000003'],
  ]);
  expect(await listed(list(bed.ours()))).toEqual([bed.name]);
});

inBed('a LeaderSelector has the mutex of its path while it leads', async (bed) => {
  const locks = bed.ours();
  const [lead, stand] = [sides.curator.thread(), sides.curator.thread()];
  await lead.ask('select', bed.lock, 'leader');
  expect((await locks.inspect(bed.name)).holders).toMatchObject([{ holder: { host: 'leader' } }]);
  const next = patiently(locks.mutex(bed.name));
  await bed.stand(1, 1);
  await lead.ask('resign', bed.lock);
  const lease = await next;
  let leads = false;
  const leading = stand.ask('select', bed.lock, 'standby').then(() => {
    leads = true;
  });
  await bed.stand(1, 1);
  await sleep(MOMENT_MS);
  expect(leads).toBe(false);
  await lease.release();
  await leading;
  await stand.ask('resign', bed.lock);
});

inBed('a holder in Java that is evicted at once believes that it holds', async (bed) => {
  const thread = sides.curator.thread();
  const locks = bed.ours();
  await thread.acquire('mutex', bed.lock);
  const next = patiently(locks.mutex(bed.name));
  await bed.stand(1, 1);
  const [{ number: token = 0n } = {}] = (await locks.inspect(bed.name)).holders;
  expect(await evict(locks, bed.name, { token, reason: 'it hangs', now: true })).toBe(true);
  const lease = await next;
  expect(lease.takeover).toEqual({ reason: 'evicted', token });
  expect(lease.token).toBeGreaterThan(token);
  expect(await thread.ask('held', 'mutex', bed.lock)).toBe('true');
  // What it gives back is not there any more.
  await thread.release('mutex', bed.lock);
  await lease.renew();
  await bed.stand(1, 0);
});

inBed('a waiter in Java that is evicted stands again, behind the others', async (bed) => {
  await bed.lineUp('ours mutex', 'java mutex', 'ours mutex');
  await bed.expectInside(0);
  const locks = bed.ours();
  const [{ number: token = 0n } = {}] = (await locks.inspect(bed.name)).waiters;
  expect(await evict(locks, bed.name, { token, reason: 'it hangs', now: true })).toBe(true);
  await bed.stand(1, 1);
  await bed.goes(0);
  await bed.expectInside(2);
  // It looks only when somebody leaves.
  await bed.stand(1, 1);
  await bed.goes(2);
  await bed.expectInside(1);
});

inBed('a holder in Java that offered to is asked to leave, and leaves', async (bed) => {
  const [offers, stubborn] = [sides.curator.thread(), sides.curator.thread()];
  const locks = bed.ours();
  for (const thread of [offers, stubborn]) {
    if (thread === offers) await thread.ask('revocable', 'mutex', bed.lock);
    await thread.acquire('mutex', bed.lock);
    const next = patiently(locks.mutex(bed.name));
    await bed.stand(1, 1);
    const [{ number: token = 0n } = {}] = (await locks.inspect(bed.name)).holders;
    expect(await evict(locks, bed.name, { token, reason: 'please' })).toBe(true);
    if (thread === stubborn) {
      await sleep(MOMENT_MS);
      expect(await thread.ask('held', 'mutex', bed.lock)).toBe('true');
      await bed.stand(1, 1);
      await thread.release('mutex', bed.lock);
    }
    const lease = await next;
    expect(await thread.ask('held', 'mutex', bed.lock)).toBe('false');
    await lease.release();
  }
});

inBed('strange nodes in the directory of a lock harm nobody', async (bed) => {
  await bed.looking.create(bed.path);
  await bed.looking.create(bed.lock, { kind: 'container' });
  const strange = ['strange', 'locks', `locks/_c_${randomUUID()}-lock-0000000000`, 'leases'];
  for (const path of strange) await bed.looking.create(`${bed.lock}/${path}`);
  await sides.curator.thread().acquire('latch', bed.lock);
  await until('was there a latch', async () => (await bed.children()).length === 4);
  expect((await bed.ours().inspect(bed.name)).holders).toEqual([]);
  let inside = 0;
  for (const kind of ['mutex', 'write'] as const) {
    await bed.lineUp(`ours ${kind}`, `java ${kind}`, `ours ${kind}`);
    for (const waiters of [2, 1, 0]) {
      await bed.expectInside(inside);
      await bed.stand(1, waiters);
      await bed.goes(inside++);
    }
    await bed.stand(0, 0);
  }
});

test.concurrent.each([
  { name: 'with/slash', node: 'with%2Fslash' },
  { name: '100 %', node: '100 %25' },
  { name: 'größe', node: 'größe' },
])('$name is the node $node', async ({ name, node }) => {
  await using bed = new Both(sides);
  const path = `${bed.path}/${node}`;
  const thread = sides.curator.thread();
  await thread.acquire('mutex', path);
  expect(await bed.ours().mutex(name).tryAcquire()).toBeNull();
  await thread.release('mutex', path);
  await (await bed.ours().mutex(name).acquire()).release();
  expect(await bed.looking.exists(path)).toBeDefined();
});

inBed('what we lose, Java gets: by the end of a session, by eviction', async (bed) => {
  const thread = sides.curator.thread();
  for (const reason of ['session', 'evicted'] as const) {
    const locks = bed.ours();
    const lease = await locks.mutex(bed.name).acquire();
    const [node = ''] = await bed.children();
    const java = thread.acquire('mutex', bed.lock);
    await bed.stand(1, 1);
    if (reason === 'session') {
      const { session = 0n } = (await bed.looking.exists(`${bed.lock}/${node}`)) ?? {};
      await sides.server.endSession(session);
    } else {
      await evict(locks, bed.name, { token: lease.token, reason: 'it hangs', now: true });
    }
    await java;
    await lease.ended;
    expect(lease.loss).toMatchObject({ reason });
    await thread.release('mutex', bed.lock);
  }
});

inBed('the directory of a lock may be deleted whenever it is empty', async (bed) => {
  const sum = { node: `${bed.path}.sum`, times: 100 };
  await bed.looking.create(sum.node, { data: Buffer.from('0') });
  let [done, deleted] = [false, 0];
  const work = async (): Promise<void> => {
    const theirs = sides.curator.thread().ask('add', bed.lock, sum.node, `${sum.times}`);
    await Promise.all([bed.add(sum), theirs]);
    // Nobody else comes, so it is empty in between.
    await bed.add(sum);
    done = true;
  };
  const sweep = async (): Promise<void> => {
    while (!done) {
      if (await bed.clear()) deleted++;
      // Curator gives up if that happens all the time.
      await sleep(10);
    }
  };
  await Promise.all([work(), sweep()]);
  expect(deleted).toBeGreaterThan(0);
  expect((await bed.looking.getData(sum.node)).data.toString()).toBe('300');
});
