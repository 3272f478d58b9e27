/** A lease goes from process to process, and one of them stands still or dies on the way. */
import type { Locks, Store } from 'holdfast';
import { expect, test } from 'vitest';
import { patiently } from '../../support/patiently.ts';
import { Child } from '../processes/child.ts';
import type { Passed, PasserOptions } from '../processes/children/passer.ts';
import { type Bed, hasWaiter, LONG_TTL_MS, MAX_TTL_MS, type Place, TTL_MS } from './bed.ts';
import { Fenced } from './fenced.ts';

interface World {
  readonly server: Place;
  readonly store: Store;
  readonly locks: Locks;
  readonly fenced: Fenced;
  child(options?: Pick<PasserOptions, 'before' | 'text'>): Child;
}

/** `patient`: nothing dies of old age in it. */
async function worldOf(bed: Bed, patient: boolean): Promise<World> {
  const server = await bed.server();
  const [ttl, maxTtl] = patient ? [LONG_TTL_MS, LONG_TTL_MS] : [TTL_MS, MAX_TTL_MS];
  const store = bed.store(server, { maxTtl });
  const url = bed.urlOf(server, maxTtl);
  return {
    ...{ server, store, locks: bed.locksOn(store, ttl), fenced: bed.use(new Fenced()) },
    child: (options) =>
      new Child('passer', { store: url, ttl, ...options } satisfies PasserOptions),
  };
}

/** What becomes of a write that says this token. */
function write({ store, fenced }: World, token: bigint, writer: string): string {
  return fenced.write({ resource: 'mutex', lineage: store.lineage, token }, writer);
}

/** One after the other, for children belong to a test. */
export function handOverFaults(newBed: () => Bed): void {
  test('goes on when its giver is killed, whose late write is refused', async () => {
    await using bed = newBed();
    const world = await worldOf(bed, true);
    const { locks, server } = world;
    const child = world.child();
    const { token, text = '' } = await child.next<Passed>('passed');
    const waiting = patiently(locks.mutex('mutex'));
    await hasWaiter(locks, 'mutex');
    child.kill('SIGKILL');
    await child.exited();
    expect(write(world, token, 'the giver')).toBe('written');
    const lease = await locks.resume(text);
    expect(lease.token).toBe(token + 1n);
    expect(lease.takeover).toEqual({ reason: 'handed-over', token });
    expect(write(world, lease.token, 'the taker')).toBe('written');
    expect(write(world, token, 'the giver')).toBe('STALE_TOKEN');
    expect((await locks.inspect('mutex')).waiters).toHaveLength(1);
    await lease.release();
    const next = await waiting;
    expect(next.token).toBeGreaterThan(lease.token);
    expect(world.fenced.writer).toBe('the taker');
    await next.release();
    await bed.end(server);
  });

  test('is taken once, though two processes come for it', async () => {
    await using bed = newBed();
    const world = await worldOf(bed, true);
    const giver = world.child();
    const { text = '', token } = await giver.next<Passed>('passed');
    const taker = world.child({ text });
    expect(await taker.next<Passed>('passed')).toMatchObject({ held: true, token: token + 1n });
    const late = world.locks.resume(text);
    await expect(late).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'resumed' });
    for (const child of [giver, taker]) child.tell({ type: 'enough' });
    await Promise.all([giver.exited(), taker.exited()]);
  });

  test('whose giver stops on the way is free after a TTL, and the giver has nothing', async () => {
    await using bed = newBed();
    const world = await worldOf(bed, false);
    const { locks } = world;
    const child = world.child({ before: 'SIGSTOP' });
    await child.next('done');
    const next = await patiently(locks.mutex('mutex'));
    expect(next.takeover?.reason ?? 'handed-over').toBe('handed-over');
    expect(write(world, next.token, 'the next')).toBe('written');
    child.kill('SIGCONT');
    const { held, token, text, error } = await child.next<Passed>('passed');
    expect(held).toBe(false);
    expect(write(world, token, 'the giver')).toBe('STALE_TOKEN');
    if (text === undefined) expect(error).toBe('LEASE_LOST');
    else await expect(locks.resume(text)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(next.held).toBe(true);
  });

  test('whose taker is killed as it takes it is free after a TTL', async () => {
    await using bed = newBed();
    const world = await worldOf(bed, false);
    const { locks, server } = world;
    const lease = await patiently(locks.mutex('mutex'));
    const text = await lease.handOver();
    const waiting = patiently(locks.mutex('mutex'));
    const child = world.child({ text, before: 'SIGKILL' });
    await child.exited();
    await expect(locks.resume(text)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    const next = await waiting;
    expect(next.token).toBeGreaterThan(lease.token + 1n);
    expect(['expired', 'handed-over']).toContain(next.takeover?.reason);
    await next.release();
    await bed.end(server);
  });
}
