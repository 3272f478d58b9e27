import { isLockError, type Store } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { type QuorumOptions, quorum } from 'holdfast/quorum';
import { aroundStore } from 'holdfast/testkit';
import { describe, expect, it } from 'vitest';
import { flush } from '../../support/fake-clock.ts';
import { gate } from '../../support/gate.ts';
import { beat, claimOf, enter, type Member, type Scene, scene, within } from './member-stores.ts';

const memories = (count: number): Store[] => Array.from({ length: count }, () => memoryStore());

/** Who holds at this member, by label. */
async function holderAt({ memory }: Member): Promise<string | undefined> {
  return (await memory.inspect('resource')).holders[0]?.holder.label;
}

describe('quorum() refuses', () => {
  const twice = memoryStore();
  const bad: readonly (readonly [what: string, members: unknown, options?: object])[] = [
    ['no members', []],
    ['one member', memories(1)],
    ['an even number', memories(4)],
    ['a member twice', [twice, memoryStore(), twice]],
    ['what is no store', [{}, ...memories(2)]],
    ['what is no list', 3],
    ['no patience', memories(3), { patience: 0 }],
    ['an unknown option', memories(3), { quorum: 2 }],
    ['what is no clock', memories(3), { clock: {} }],
  ];
  it.each(bad)('%s', (_, members, options) => {
    expect(() => quorum(members as Store[], options as QuorumOptions)).toThrow(
      expect.toSatisfy((error) => isLockError(error, 'USAGE')),
    );
  });

  it('claims for less than the whole limit', async () => {
    const { store } = scene();
    const some = claimOf({ kind: 'permits', permits: 1, limit: 2 });
    expect(await enter(store, some)).toMatchObject({ state: 'error', error: { retryable: false } });
    expect(await enter(store, claimOf({ kind: 'permits', permits: 2, limit: 2 }))).toMatchObject({
      state: 'held',
    });
  });
});

describe('a member that does not answer', () => {
  it.each(['silent', 'broken', 'deaf'] as const)('holds nobody up: %s', async (fault) => {
    for (const which of [1, 2]) {
      const { members, store, clock } = scene();
      (members[which] as Member).fault = fault;
      const a = claimOf();
      // No time passes, but for what the lowest member is given.
      expect(await within(clock, 0, enter(store, a))).toMatchObject({ state: 'held' });
      expect(await within(clock, 0, beat(store, a))).toMatchObject({ state: 'held' });
      expect(await within(clock, 0, store.release([a]))).toEqual([true]);
    }
  });

  it('is waited for briefly if it is the lowest, and then no more', async () => {
    const { members, store, clock } = scene(5);
    for (const each of members.slice(0, 2)) each.fault = 'deaf';
    const first = claimOf();
    const answer = enter(store, first);
    let answered = false;
    void answer.then(() => (answered = true));
    await clock.advance(9);
    expect(answered).toBe(false);
    expect(await within(clock, 1, answer)).toMatchObject({ state: 'held' });
    await store.release([first]);
    // The second-lowest is given its time as well; then both are known.
    const second = claimOf();
    expect(await within(clock, 10, enter(store, second))).toMatchObject({ state: 'held' });
    await store.release([second]);
    expect(await within(clock, 0, enter(store, claimOf()))).toMatchObject({ state: 'held' });
  });

  it('is released all the same, again and again until it hears', async () => {
    const { members, store, clock } = scene();
    const last = members[2] as Member;
    last.fault = 'silent';
    const a = claimOf();
    await enter(store, a);
    expect(await holderAt(last)).toBe(a.holder.label);
    last.fault = 'broken';
    await store.release([a]);
    await clock.advance(2_500);
    expect(await holderAt(last)).toBe(a.holder.label);
    last.fault = undefined;
    await clock.advance(1_000);
    expect(await holderAt(last)).toBe(undefined);
  });

  it('is released if its vote comes after the claim was given up', async () => {
    const { members, clock } = scene();
    const [lowest, , last] = members as [Member, Member, Member];
    await lowest.memory.claim([claimOf()]);
    const late = gate();
    const slow = aroundStore(last, async ({ verb }, next) => {
      if (verb === 'claim') await late.opened;
      return next();
    });
    const far = quorum([lowest, members[1] as Member, slow], { clock });
    expect(await within(clock, 0, enter(far, claimOf({ queue: false })))).toMatchObject({
      state: 'gone',
      why: 'refused',
    });
    late.open();
    await clock.rest();
    expect(await holderAt(last)).toBe(undefined);
  });

  it('if there is a majority of such, is an error that may pass', async () => {
    const { members, store, clock } = scene(5);
    for (const each of members.slice(2)) each.fault = 'broken';
    const a = claimOf();
    expect(await enter(store, a)).toMatchObject({
      state: 'error',
      error: { retryable: true, outcome: 'unknown' },
    });
    // Nothing is kept that could stand in the way of those who reach a majority.
    await clock.rest();
    expect(await holderAt(members[0] as Member)).toBe(undefined);
    for (const each of members) each.fault = undefined;
    expect(await within(clock, 20, enter(store, a))).toMatchObject({ state: 'held' });
  });
});

describe('a hold', () => {
  it('lasts as long as the least life in the best majority', async () => {
    const { members, store, clock } = scene();
    const a = claimOf();
    await enter(store, a);
    await clock.advance(3_000);
    // Two members do not hear of the heartbeat, and then only one.
    for (const each of members.slice(1)) each.fault = 'broken';
    expect(await beat(store, a)).toMatchObject({ state: 'error' });
    for (const each of members) each.fault = undefined;
    // To claim again prolongs nothing: one vote is new, two are as old as the hold.
    expect(await enter(store, a)).toMatchObject({ state: 'held', leftMs: 7_000 });
    (members[2] as Member).fault = 'broken';
    expect(await beat(store, a)).toMatchObject({ state: 'held', leftMs: 10_000 });
    for (const each of members) each.fault = undefined;
    await clock.advance(1_000);
    expect(await enter(store, a)).toMatchObject({ state: 'held', leftMs: 9_000 });
  });

  it('counts from the beginning of the round, not from the answers', async () => {
    const { members, clock } = scene();
    const slow = members.map((each) =>
      aroundStore(each, async (_, next) => {
        const answer = await next();
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 400));
        return answer;
      }),
    );
    const store = quorum(slow, { clock });
    const status = await within(clock, 3_000, enter(store, claimOf()));
    expect(status).toMatchObject({ state: 'held', leftMs: 10_000 });
  });

  it('is over when a majority has lost it, and says why', async () => {
    const { members, store, clock } = scene();
    const a = claimOf();
    await enter(store, a);
    (members[0] as Member).memory.forget();
    expect(await beat(store, a)).toMatchObject({ state: 'held' });
    (members[1] as Member).memory.forget();
    const status = await within(clock, 0, beat(store, a));
    expect(status).toMatchObject({ state: 'gone', why: 'store-reset' });
    expect(await beat(store, a)).toEqual(status);
  });

  it('wins back a member that has forgotten it, when that votes again', async () => {
    const { members, store, clock } = scene();
    const a = claimOf();
    await enter(store, a);
    (members[2] as Member).memory.forget();
    await beat(store, a);
    expect(await holderAt(members[2] as Member)).toBe(undefined);
    await clock.advance(1_000);
    await beat(store, a);
    expect(await holderAt(members[2] as Member)).toBe(a.holder.label);
  });

  it('wins nothing back after it may have ended', async () => {
    const { members, store, clock } = scene();
    const a = claimOf();
    await enter(store, a);
    (members[2] as Member).memory.forget();
    await beat(store, a);
    await clock.advance(9_500);
    await within(clock, 0, beat(store, a));
    await clock.rest();
    expect(await holderAt(members[2] as Member)).toBe(undefined);
  });

  it('that was evicted is not won back', async () => {
    const { store, clock, members } = scene();
    const a = claimOf();
    await enter(store, a);
    const [holder] = (await store.inspect('resource')).holders;
    const number = holder?.number ?? 0n;
    expect(await store.evict?.('resource', number, { reason: 'test', now: true })).toBe(true);
    for (let i = 0; i < 3; i++) {
      const status = await within(clock, 10, beat(store, a));
      expect(status).toMatchObject({ state: 'gone', why: 'evicted', detail: 'test' });
    }
    expect(await holderAt(members[0] as Member)).toBe(undefined);
  });
});

describe('a token', () => {
  it('is known to a majority before it is granted', async () => {
    const { members, store } = scene();
    // The members have counted differently far.
    for (const [i, { memory }] of members.entries()) {
      for (let k = 0; k < 10 * i; k++) await memory.claim([claimOf({ resource: `other ${k}` })]);
    }
    const status = await enter(store, claimOf());
    const token = status.state === 'held' ? status.token : 0n;
    const numbers = await Promise.all(
      members.map(async ({ memory }) => (await memory.inspect('resource')).holders[0]?.number),
    );
    expect(numbers.filter((number) => (number ?? 0n) >= token).length).toBeGreaterThanOrEqual(2);
    expect(token).toBeGreaterThanOrEqual(numbers[1] ?? 0n);
  });

  it('grows although one majority shares a single member with the other', async () => {
    const { members, store, clock } = scene(5);
    const [a, b, c, d, e] = members as [Member, Member, Member, Member, Member];
    for (const { memory } of [d, e]) {
      for (let k = 0; k < 100; k++) await memory.claim([claimOf({ resource: `other ${k}` })]);
    }
    let last = 0n;
    for (const down of [
      [a, b],
      [d, e],
      [a, b],
      [c, d],
      [b, e],
    ]) {
      for (const each of down) each.fault = 'broken';
      const claim = claimOf();
      const status = await within(clock, 20, enter(store, claim));
      const token = status.state === 'held' ? status.token : 0n;
      expect(token).toBeGreaterThan(last);
      last = token;
      await store.release([claim]);
      for (const each of down) each.fault = undefined;
      // The releases that failed are repeated.
      await clock.advance(2_000);
    }
  });

  it('is not given where members cannot be raised', () => {
    expect(quorum(memories(3)).traits.tokens).toBe('majority');
    const members = memories(3).map((store) =>
      Object.assign(Object.create(store) as Store, { raise: undefined }),
    );
    expect([quorum(members).traits.tokens, quorum(members).lineage]).toEqual([undefined, '']);
  });

  it('comes from another lineage when a member is another one, or has forgotten', () => {
    const [a, b, c, d] = [memoryStore(), memoryStore(), memoryStore(), memoryStore()];
    const before = quorum([a, b, c]).lineage;
    expect(quorum([b, c, a]).lineage).toBe(before);
    expect(quorum([a, b, d]).lineage).not.toBe(before);
    c.forget();
    expect(quorum([a, b, c]).lineage).not.toBe(before);
  });
});

describe('who waits', () => {
  it('stands in the lowest queue alone', async () => {
    const { members, store } = scene();
    await enter(store, claimOf());
    await enter(store, claimOf());
    await flush();
    const waiting = await Promise.all(
      members.map(async ({ memory }) => (await memory.inspect('resource')).waiters.length),
    );
    expect(waiting).toEqual([1, 0, 0]);
  });

  it('goes on to the next member when the lowest falls silent', async () => {
    const { members, store, clock } = scene();
    const [a, b] = [claimOf(), claimOf()];
    await enter(store, a);
    await enter(store, b);
    (members[0] as Member).fault = 'deaf';
    expect(await within(clock, 5_000, beat(store, b))).toMatchObject({ state: 'waiting' });
    expect((await (members[1] as Member).memory.inspect('resource')).waiters).toHaveLength(1);
    await within(clock, 1_000, store.release([a]));
    expect(await within(clock, 2_000, beat(store, b))).toMatchObject({ state: 'held' });
  });

  it('does not wait for a member that has lost its memory', async () => {
    const { members, store, clock } = scene();
    (members[0] as Member).memory.forget();
    const [a, b] = [claimOf(), claimOf()];
    expect(await enter(store, a)).toMatchObject({ state: 'held' });
    expect(await within(clock, 0, enter(store, b))).toMatchObject({
      state: 'waiting',
      why: 'queue',
    });
    await store.release([a]);
    expect(await within(clock, 0, beat(store, b))).toMatchObject({ state: 'held' });
  });

  it('is told of the loss if a majority has lost its memory', async () => {
    const { members, store, clock } = scene(5);
    for (const { memory } of members.slice(0, 3)) memory.forget();
    const a = claimOf();
    const status = await enter(store, a);
    expect(status).toMatchObject({ state: 'waiting', why: 'data-loss', retryInMs: 1_000 });
    await clock.advance(1_000);
    expect(await within(clock, 0, beat(store, a))).toMatchObject({ state: 'held' });
  });
});

describe('the quorum', () => {
  it('closes all its members although one fails', async () => {
    const closed: number[] = [];
    const members = memories(3).map((store, i) =>
      Object.assign(Object.create(store) as Store, {
        async close() {
          closed.push(i);
          if (i === 0) throw new Error('no');
        },
      }),
    );
    await expect(quorum(members).close?.()).rejects.toThrow('no');
    expect(closed).toEqual([0, 1, 2]);
  });

  it('lets its users ask for what the strictest member does', () => {
    const with1 = (maxTtlMs: number): Store =>
      Object.assign(Object.create(memoryStore()) as Store, { maxTtlMs });
    expect(quorum([with1(5_000), with1(9_000), memoryStore()]).maxTtlMs).toBe(5_000);
    expect(quorum(memories(3)).maxTtlMs).toBe(undefined);
  });

  it('says who failed when no majority can be asked who holds', async () => {
    const { members, store } = scene();
    (members[0] as Member).fault = 'broken';
    expect((await store.inspect('resource')).holders).toEqual([]);
    (members[1] as Member).fault = 'broken';
    await expect(store.inspect('resource')).rejects.toThrow(/Only 1 of 3 members answered/);
  });
});

/** Of three members two have parts: that of `x/1` is `x`. */
function parted(): Scene {
  const { clock, members } = scene();
  const partOf = (resource: string): string => resource.slice(0, resource.indexOf('/'));
  for (const member of members.slice(0, 2)) Object.assign(member, { partOf });
  return { clock, members, store: quorum(members, { clock }) };
}

it('a quorum has the parts of all its members together', () => {
  const { store } = parted();
  const [a, other, b] = ['a/1', 'a/2', 'b/1'].map((resource) => store.partOf?.(resource));
  expect([a === other, a === b]).toEqual([true, false]);
  expect(scene().store.partOf).toBeUndefined();
});

it('each member gets batches that do not cross its parts', async () => {
  const { store, members } = parted();
  const claims = ['a/1', 'b/1', 'a/2'].map((resource) => claimOf({ resource }));
  await Promise.all([store.claim([claims[0]!, claims[2]!]), store.claim([claims[1]!])]);
  const batches = members.map(({ asked }) =>
    asked
      .filter(({ verb }) => verb === 'claim')
      .map((each) => each.claims.map(({ resource }) => resource).join(' ')),
  );
  expect(batches).toEqual([['a/1 a/2', 'b/1'], ['a/1 a/2', 'b/1'], ['a/1 a/2 b/1']]);
});
