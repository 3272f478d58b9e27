/** What waits publish: nothing while nobody waits long, nothing in listings, nothing afterwards. */
import { createLocks, detectDeadlocks, list, waitsOf } from 'holdfast';
import { countingStore } from 'holdfast/testkit';
import { describe, expect, it } from 'vitest';
import { listed } from '../../support/listed.ts';
import { type Program, World } from './bed.ts';

it('while no task waits for a second, detection costs no request', async () => {
  const requests = async (detects: boolean): Promise<unknown> => {
    const world = new World();
    const store = countingStore(world.store);
    const locks = createLocks(store, { clock: world.clock });
    if (detects) detectDeadlocks(locks);
    const nested = async (ms: number) => {
      await locks.mutex('a').run(() => locks.mutex('b').run(() => world.clock.sleep(ms)));
    };
    await Promise.all([nested(300), nested(300), nested(300)]);
    // One that holds nothing may wait for as long as it likes.
    await Promise.all([nested(20_000), locks.mutex('a').run(() => {})]);
    return (['claim', 'renew', 'release', 'inspect'] as const).map((verb) => store.count(verb));
  };
  expect(await requests(true)).toEqual(await requests(false));
});

describe('a wait of a task that holds locks', () => {
  async function waiting(): Promise<{ world: World; all: Program[]; done: Promise<unknown> }> {
    const world = new World();
    const all = world.programs(2);
    const [a, b] = all as [Program, Program];
    const [own, other] = [a, b].map(({ locks }) => locks.semaphore('s', { limit: 3 }));
    const options = { permits: 2, label: 'nightly' };
    const done = Promise.all([
      a.locks.mutex('m0').run(() => world.nest(a.locks.rwLock('r').read, 100, own!, options)),
      other!.run({ permits: 2 }, () => world.clock.sleep(20_000)),
    ]);
    return { world, all, done };
  }

  it('is shown by waitsOf, with all that it holds, and not by list', async () => {
    const { world, all, done } = await waiting();
    const { locks } = all[1] as Program;
    await world.clock.sleep(900);
    expect(await waitsOf(locks)).toEqual([]);
    await world.clock.sleep(2_000);
    const [wait, ...others] = await waitsOf(locks);
    expect(others).toEqual([]);
    expect(wait).toMatchObject({
      ...{ resource: 's', kind: 'permits', permits: 2, limit: 3, onDeadlock: 'event' },
      holder: { label: 'nightly', pid: process.pid, since: 1_100 },
    });
    expect(wait?.holds.map(({ resource }) => resource).sort()).toEqual(['m0', 'r']);
    expect((await listed(list(locks))).sort()).toEqual(['m0', 'r', 's']);
    await done;
  });

  it('leaves nothing behind, however it ends', async () => {
    const { world, all, done } = await waiting();
    const { locks, stop } = all[0] as Program;
    await world.clock.sleep(3_000);
    expect(await waitsOf(locks)).toHaveLength(1);
    stop();
    await world.clock.sleep(1);
    expect(await waitsOf(locks)).toEqual([]);
    await done;
    const again = await waiting();
    const { locks: others } = again.all[1] as Program;
    await again.done;
    await again.world.clock.sleep(1);
    expect(await waitsOf(others)).toEqual([]);
    expect(await listed(list(others))).toEqual([]);
  });

  it('is published anew when the store has lost it', async () => {
    const { world, all, done } = await waiting();
    const { locks } = all[1] as Program;
    await world.clock.sleep(3_000);
    const [name = ''] = await listed(world.store.list?.('holdfast waits '));
    const [member] = (await world.store.inspect(name)).holders;
    await world.store.evict?.(name, member?.number ?? 0n, { reason: 'a test', now: true });
    expect((await waitsOf(locks))[0]?.holds).toHaveLength(1);
    await world.clock.sleep(10_000);
    expect((await waitsOf(locks))[0]?.holds).toHaveLength(2);
    await done;
  });

  it('ends before its locks are closed', async () => {
    const { world, all, done } = await waiting();
    const { locks } = all[0] as Program;
    const ended = expect(done).rejects.toMatchObject({ code: 'CLOSED' });
    await world.clock.sleep(3_000);
    const closing = locks.close();
    await world.clock.sleep(50);
    expect(await waitsOf((all[1] as Program).locks)).toEqual([]);
    await closing;
    await ended;
  });
});
