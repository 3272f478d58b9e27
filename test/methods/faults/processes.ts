/** A process that holds stands still, blocks its event loop, or dies. */
import type { Store } from 'holdfast';
import { expect } from 'vitest';
import { patiently } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import { Child, databaseFile } from '../processes/child.ts';
import type { Found, HolderOptions } from '../processes/children/holder.ts';
import type { Missed } from '../processes/children/newest.ts';
import type { Ran, RunnerOptions } from '../processes/children/runner.ts';
import type { Begun, StarterOptions } from '../processes/children/starter.ts';
import { machineMs, type OnStore } from '../processes/children/talk.ts';
import type { Bed, Place } from './bed.ts';
import { claimOf, hasWaiter, inTurn, MAX_TTL_MS, sleep, TTL_MS } from './bed.ts';
import { Fenced } from './fenced.ts';
import { firstGrant, type Grant } from './scene.ts';

const HOUR_MS = 3_600_000;

type Held = { readonly token: bigint };

interface Holder {
  readonly server: Place;
  readonly store: Store;
  readonly child: Child;
  readonly held: Held;
  /** What the lock is for. */
  readonly fenced: Fenced;
}

type Manner = Pick<HolderOptions, 'how' | 'ifBusy' | 'clockOffMs'>;

/** A child that holds the mutex. */
async function holder(bed: Bed, manner: Manner): Promise<Holder> {
  const server = await bed.server();
  const file = databaseFile();
  const fenced = bed.use(new Fenced(`${file}.data`));
  const store = bed.store(server);
  const child = childOf(bed.urlOf(server, MAX_TTL_MS), file, manner);
  return { server, store, child, fenced, held: await child.next<Held>('held') };
}

/** It takes the mutex as soon as it can. */
function childOf(store: string, file: string, manner: Manner): Child {
  return new Child('holder', { store, file, ttl: TTL_MS, ...manner } satisfies HolderOptions);
}

/** The new holder's write, as its fence allows. */
function write({ store, fenced }: Holder, { claim, token }: Grant): void {
  const written = { resource: claim.resource, lineage: store.lineage, token: token * 1024n };
  expect(fenced.write(written, 'the new holder')).toBe('written');
}

/** The holder was told before anybody else could be granted, or before it ran again. */
function expectContained(found: Found, { at }: Grant): void {
  const epochMs = Date.now() - machineMs();
  expect(found.lastHeldAt + epochMs).toBeLessThanOrEqual(at);
  expect(found).toMatchObject({ state: 'lost', aborted: true });
}

/** One after the other, for children belong to a test. */
export function processFaults(newBed: () => Bed): void {
  const inBed = inTurn(newBed);
  for (const [stopped, how] of [
    ['past its TTL: it finds its lease lost, its write refused', 'watch'],
    ['between its look and its write: the fence refuses the write', 'stop'],
  ] as const) {
    inBed(`is stopped ${stopped}`, async (bed) => {
      const holding = await holder(bed, { how });
      const { store, child, fenced, server } = holding;
      if (how === 'watch') child.kill('SIGSTOP');
      const grant = await firstGrant(store, 'mutex');
      write(holding, grant);
      child.kill('SIGCONT');
      const found = await child.next<Found>('lost');
      expectContained(found, grant);
      expect(found).toMatchObject({ reason: 'stalled', write: 'STALE_TOKEN' });
      expect(fenced.writer).toBe('the new holder');
      child.tell({ type: 'enough' });
      await child.exited();
      await store.release([grant.claim]);
      await bed.end(server);
    });
  }

  inBed('is stopped for a moment: the lease goes on', async (bed) => {
    const { store, child, held } = await holder(bed, { how: 'watch' });
    child.kill('SIGSTOP');
    // Longer than a heartbeat, far shorter than what is left of the TTL.
    await sleep(TTL_MS / 3);
    child.kill('SIGCONT');
    // Longer than the TTL: without heartbeats after the stop it would be dead.
    await sleep(TTL_MS * 1.5);
    expect(child.heard('lost')).toEqual([]);
    const { holders } = await store.inspect('mutex');
    expect(holders[0]?.number).toBe(held.token / 1024n);
  });

  inBed('blocks its event loop: whoever looks finds the lease lost in time', async (bed) => {
    const holding = await holder(bed, { how: 'block' });
    const grant = await firstGrant(holding.store, 'mutex');
    const found = await holding.child.next<Found>('lost');
    expectContained(found, grant);
    expect(found.reason).toBe('stalled');
    expect(['written', 'STALE_TOKEN']).toContain(found.write);
    write(holding, grant);
    expect(holding.fenced.writer).toBe('the new holder');
  });

  inBed('is killed: whoever waits gets on when its TTL is over, and hears of it', async (bed) => {
    const { server, child, held } = await holder(bed, { how: 'watch' });
    const locks = bed.locks(server);
    const waiting = patiently(locks.mutex('mutex'));
    await hasWaiter(locks, 'mutex');
    child.kill('SIGKILL');
    await child.exited();
    const { holders } = await locks.inspect('mutex');
    expect(holders).toHaveLength(1);
    const next = await waiting;
    expect(next.takeover).toEqual({ reason: 'expired', token: held.token });
    expect(next.token).toBeGreaterThan(held.token);
    await next.release();
    await bed.end(server);
  });

  inBed('is replaced: it is told at once, and the newest gets on', async (bed) => {
    const { server, child, held } = await holder(bed, { how: 'watch', ifBusy: 'replace' });
    const newest = bed.locks(server).mutex('mutex').acquire({ ifBusy: 'replace' });
    const found = await child.next<Found>('lost');
    expect(found).toMatchObject({ reason: 'replaced', state: 'lost', aborted: true });
    child.tell({ type: 'enough' });
    await child.exited();
    const lease = await newest;
    expect(lease.token).toBeGreaterThan(held.token);
    await lease.release();
    await bed.end(server);
  });

  inBed('is replaced while it is stopped: the fence refuses its write', async (bed) => {
    const { server, child, fenced } = await holder(bed, { how: 'watch', ifBusy: 'replace' });
    child.kill('SIGSTOP');
    const lease = await bed.locks(server).mutex('mutex').acquire({ ifBusy: 'replace' });
    expect(fenced.write(lease, 'the new holder')).toBe('written');
    child.kill('SIGCONT');
    const found = await child.next<Found>('lost');
    expect(found).toMatchObject({ state: 'lost', aborted: true, write: 'STALE_TOKEN' });
    expect(fenced.writer).toBe('the new holder');
  });

  inBed('lets go while others replace each other: the newest that lives gets on', async (bed) => {
    const server = await bed.server();
    const locks = bed.locks(server);
    const first = await patiently(locks.mutex('mutex'));
    const begin = async (): Promise<Child> => {
      const options: OnStore = { store: bed.urlOf(server, MAX_TTL_MS), ttl: TTL_MS };
      const child = new Child('newest', options);
      await until('did it wait alone', async () => {
        const { waiters } = await locks.inspect('mutex');
        return waiters.length === 1 && waiters[0]?.holder.pid === child.pid;
      });
      return child;
    };
    const [replaced, stopped] = [await begin(), await begin()];
    expect((await replaced.next<Missed>('missed')).why).toBe('replaced');
    stopped.kill('SIGSTOP');
    const killed = await begin();
    killed.kill('SIGKILL');
    await killed.exited();
    const newest = await begin();
    await first.release();
    expect((await newest.next<Held>('held')).token).toBeGreaterThan(first.token);
    stopped.kill('SIGCONT');
    // By then its tombstone may have passed, but it does not come back.
    const { why } = await stopped.next<Missed>('missed');
    expect(['replaced', 'expired', 'session']).toContain(why);
    newest.tell({ type: 'enough' });
    await Promise.all([newest.exited(), stopped.exited()]);
    await bed.end(server);
  });

  inBed('exits right after its work: the lock is held until minHold', async (bed) => {
    const server = await bed.server();
    const minHold = MAX_TTL_MS;
    const store = bed.urlOf(server, MAX_TTL_MS);
    const child = new Child('runner', { store, ttl: TTL_MS, minHold } satisfies RunnerOptions);
    const { from } = await child.next<Ran>('ran');
    await child.exited();
    await patiently(bed.locks(server).mutex('mutex'));
    expect(machineMs()).toBeGreaterThanOrEqual(from + minHold);
  });

  inBed('is stopped or killed: no more holds than the limit begin in any minHold', async (bed) => {
    const store = bed.urlOf(await bed.server(), MAX_TTL_MS);
    const [ttl, limit, minHold] = [TTL_MS, 2, Math.floor(TTL_MS / 2)];
    const options: StarterOptions = { store, ttl, limit, minHold };
    const all = Array.from({ length: 4 }, () => new Child('starter', options));
    const [stopped, killed, ...others] = all as [Child, Child, ...Child[]];
    const begun = (...those: readonly Child[]) =>
      those.flatMap((child) => child.heard<Begun>('begun')).map(({ at }) => at);
    for (const child of all) await child.next('begun');
    stopped.kill('SIGSTOP');
    killed.kill('SIGKILL');
    // Longer than what either has left behind.
    await sleep(TTL_MS * 1.5);
    stopped.kill('SIGCONT');
    const [before, own] = [begun(...others).length, begun(stopped).length];
    const goOn = () => begun(...others).length >= before + 4 && begun(stopped).length > own;
    await until('did all go on', goOn);
    const inOrder = begun(...all).sort((a, b) => a - b);
    for (const [i, at] of inOrder.slice(limit).entries()) {
      // The store counts by a clock of its own, in whole ms.
      expect(at - (inOrder[i] ?? 0)).toBeGreaterThanOrEqual(minHold * 0.98);
    }
  });

  inBed('whose clock is an hour off holds and waits as others do', async (bed) => {
    const ahead = await holder(bed, { how: 'watch', clockOffMs: HOUR_MS });
    const { server, store, child, held } = ahead;
    const url = bed.urlOf(server, MAX_TTL_MS);
    const behind = childOf(url, databaseFile(), { how: 'watch', clockOffMs: -HOUR_MS });
    const waits = async (): Promise<boolean> => (await store.inspect('mutex')).waiters.length === 1;
    await until('waited the other', waits);
    // Longer than the TTL: neither is taken for dead.
    await sleep(TTL_MS * 1.5);
    expect(await waits()).toBe(true);
    expect(child.heard('lost')).toEqual([]);
    child.kill('SIGKILL');
    const next = await behind.next<Held>('held');
    expect(next.token).toBeGreaterThan(held.token);
    const late = store.claim([claimOf('mutex', { queue: false, ttlMs: TTL_MS })]);
    expect(await late).toMatchObject([{ state: 'gone', why: 'refused' }]);
  });
}
