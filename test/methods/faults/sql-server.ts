/** The server of a database dies, stands still, or ends sessions; and rows that somebody locks. */
import type { StoreError } from 'holdfast';
import type { Claim } from 'holdfast/store';
import { expect } from 'vitest';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import type { StoreOptions } from './bed.ts';
import { claimOf, hasWaiter, LONG_TTL_MS, MAX_TTL_MS, onServer, sleep, TTL_MS } from './bed.ts';
import { firstGrant, Scene } from './scene.ts';
import { loneServer } from './server.ts';
import type { SqlBed, SqlServer } from './sql-bed.ts';

/** Two heartbeats may fail and the lease goes on, also on a busy machine. */
const PATIENT_TTL_MS = paced(6000);

/** Commits are on disk before they are answered. */
export function serverFaults(newBed: () => SqlBed): void {
  loneServer(newBed);
  const it = onServer(newBed);

  it('dies and comes back: what was not held is granted at once', async (bed, server) => {
    const locks = bed.patientLocks(server);
    await (await patiently(locks.mutex('known'))).release();
    await server.restart();
    const backAt = Date.now();
    const fresh = await patiently(locks.mutex('fresh'));
    // The token is the time in µs: a quarantine would not be over.
    expect(Number(fresh.token / 1024n) / 1000).toBeLessThan(backAt + LONG_TTL_MS);
    await fresh.release();
    await bed.end(server);
  });

  it('ends the sessions: the leases go on, and the waiter hears', async (bed, server) => {
    const scene = await Scene.set(bed, { holder: server, others: server, ttl: PATIENT_TTL_MS });
    await bed.endSessions(server);
    await sleep(PATIENT_TTL_MS / 2);
    // The message that the waiter is next is sent while it does not listen.
    await bed.endSessions(server);
    await scene.expectUndisturbed(0);
    await scene.leave(server);
  });

  it('dies in the middle of a claim: asked again, it is one claim', async (bed, server) => {
    const locks = bed.patientLocks(server);
    const other = await bed.block(server, 'a');
    const acquired = patiently(locks.mutex('a'));
    await until('was it in the middle', async () => (await bed.blocked(server)).length === 1);
    await server.restart();
    await other.close();
    const lease = await acquired;
    const { holders, waiters } = await locks.inspect('a');
    expect(holders.map(({ number }) => number)).toEqual([lease.token]);
    expect(waiters).toEqual([]);
    await lease.release();
    await bed.end(server);
  });

  it('dies in the middle of a release: whoever waits gets on at once', async (bed, server) => {
    // They outlive the test: only a release that is made after all lets the other one in.
    const [holding, waiting] = [bed.patientLocks(server), bed.patientLocks(server)];
    const lease = await patiently(holding.mutex('a'));
    const next = patiently(waiting.mutex('a'));
    await hasWaiter(waiting, 'a');
    const other = await bed.block(server, 'a');
    const released = lease.release();
    await until('was it in the middle', async () => (await bed.blocked(server)).length === 1);
    await server.restart();
    await other.close();
    await released;
    expect((await next).token).toBeGreaterThan(lease.token);
    await (await next).release();
    await bed.end(server);
  });
}

/** Somebody else stands still in a transaction. */
export function rowFaults(newBed: () => SqlBed): void {
  const it = onServer(newBed);

  it('the row of one resource: the others go on, the rest fails in time', async (bed, server) => {
    const scene = await Scene.set(bed, { holder: server, others: server, ttl: PATIENT_TTL_MS });
    const locks = bed.patientLocks(server);
    const other = await bed.block(server, 'stuck');
    const failed = { code: 'STORE', retryable: true, outcome: 'failed' };
    const claim = claimOf('stuck', { ttlMs: TTL_MS });
    await expect(bed.store(server).claim([claim])).rejects.toMatchObject(failed);
    const waiting = patiently(locks.mutex('stuck'));
    await until('did it wait', async () => (await bed.blocked(server)).length > 0);
    await (await patiently(locks.mutex('free'))).release();
    // Longer than a TTL: without heartbeats they would be dead.
    await scene.expectUndisturbed(PATIENT_TTL_MS * 1.2);
    await other.close();
    await (await waiting).release();
    await scene.leave(server);
  });

  it('the row of what is held: the holder is told before others get it', async (bed, server) => {
    const scene = await Scene.set(bed, { holder: server, others: server });
    const blocks = [await bed.block(server, 'probed'), await bed.block(server, 'queued')];
    await until('knew the holder', async () => scene.probed.told && scene.queued.told);
    for (const block of blocks) await block.close();
    await scene.expectSucceeded();
    await scene.leave(server);
  });

  it('the row of one lease: the others have their heartbeats', async (bed, server) => {
    const locks = bed.locksOn(bed.store(server, { maxTtl: PATIENT_TTL_MS }), PATIENT_TTL_MS);
    // Not in the order of the alphabet, nor in the middle.
    const names = Array.from({ length: 11 }, (_, n) => `lease ${n * 7}`);
    const [stuck, ...free] = await Promise.all(names.map((name) => patiently(locks.mutex(name))));
    const other = await bed.block(server, stuck!.resource);
    await until('was the one lost', async () => stuck!.state === 'lost');
    // Longer than a TTL: without heartbeats they would be dead.
    await sleep(PATIENT_TTL_MS * 1.2);
    expect(free.map(({ held }) => held)).toEqual(free.map(() => true));
    await other.close();
    await Promise.all(free.map((lease) => lease.release()));
    await bed.end(server);
  });

  it('the row of a long lease: a short one is not kept waiting', async (bed, server) => {
    const store = bed.store(server);
    const [long, short] = [claimOf('long'), claimOf('short', { ttlMs: TTL_MS })];
    // With these the connections are there.
    for (const verb of ['claim', 'renew'] as const) await store[verb]([long]);
    await store.claim([short]);
    const other = await bed.block(server, 'long');
    const ended: string[] = [];
    const beat = (name: string, claim: Claim) =>
      store.renew([claim]).then(
        ([status]) => ended.push(`${name} ${status?.state}`),
        () => ended.push(`${name} failed`),
      );
    // Both are asked on one connection, the one whose row is taken first.
    await Promise.all([beat('long', long), beat('short', short)]);
    expect(ended).toEqual(['short held', 'long failed']);
    await other.close();
    await store.release([long, short]);
    await bed.end(server);
  });

  it('a row among those of a batch: nobody else waits for it', async (bed, server) => {
    const [holding, asking] = [bed.store(server), bed.store(server)];
    const names = ['a', 'b', 'stuck', 'x', 'y'];
    const held = names.map((name) => claimOf(name, { ttlMs: PATIENT_TTL_MS / 2 }));
    const stuck = held[2]!;
    await holding.claim(held);
    // The other connection is there.
    await holding.renew(held);
    await holding.release([stuck]);
    const other = await bed.block(server, 'stuck');
    const waiting = names.map((name) => claimOf(name));
    let asked = true;
    const batch = asking.claim(waiting).finally(() => (asked = false));
    const free = held.filter((claim) => claim !== stuck);
    // Whoever waits for a row of the batch would fail after a sixth of this TTL.
    while (asked) {
      const beats = await Promise.all(free.map((claim) => holding.renew([claim])));
      expect(beats.flat().map(({ state }) => state)).toEqual(free.map(() => 'held'));
    }
    const failed = { state: 'error', error: { code: 'STORE', retryable: true, outcome: 'failed' } };
    const entered = { state: 'waiting' };
    expect(await batch).toMatchObject([entered, entered, failed, entered, entered]);
    await other.close();
    expect(await asking.claim([waiting[2]!])).toMatchObject([{ state: 'held' }]);
    await asking.release(waiting);
    await holding.release(free);
    await bed.end(server);
  });

  it('the row of one claim: another is not let in after its tombstone', async (bed, server) => {
    const [store, other] = [bed.store(server), bed.store(server)];
    await store.claim([claimOf('stuck')]);
    // Both connections are there.
    await store.renew([claimOf('nobody')]);
    const block = await bed.block(server, 'stuck');
    const before = store.claim([claimOf('stuck')]).catch((error: StoreError) => error);
    const late = claimOf('late', { ttlMs: TTL_MS });
    const claimed = store.claim([late]).catch((error: StoreError) => error);
    // Core gives it up so soon.
    await sleep(TTL_MS / 3);
    await store.release([{ ...late, unanswered: true }]);
    await Promise.all([before, claimed]);
    expect((await other.inspect('late')).holders).toEqual([]);
    await block.close();
  });
}

interface Lazy<Options extends StoreOptions> {
  readonly bed: SqlBed<Options>;
  /** Whose commits are answered before they are on disk. */
  readonly server: SqlServer;
  readonly options?: Options;
}

/** It may have forgotten all leases, or one alone, or none. */
export async function expectContainedLoss<Options extends StoreOptions>({
  bed,
  server,
  ...options
}: Lazy<Options>): Promise<void> {
  const scene = await Scene.set(bed, { holder: server, others: server, ...options });
  const fell = Date.now();
  await server.restart();
  const fresh = await firstGrant(scene.prober, 'fresh');
  // What was granted before may have been renewed until the fall.
  expect(fresh.at).toBeGreaterThanOrEqual(fell + MAX_TTL_MS);
  for (const { lease, lastHeldAt } of [scene.probed, scene.queued]) {
    if (lease.loss) expect(lastHeldAt).toBeLessThanOrEqual(fresh.at);
    await lease.release();
  }
  await scene.prober.release([fresh.claim]);
  await scene.leave(server);
}
