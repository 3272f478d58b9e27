/** The server dies, stands still, or loses its data. */
import { describe, expect, test } from 'vitest';
import { MAX_TTL_MS, sleep, TTL_MS } from '../../methods/faults/bed.ts';
import { patiently, Scene } from '../../methods/faults/scene.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed } from './bed.ts';

/** Two heartbeats may fail and the lease goes on, also on a busy machine. */
const LONG_TTL_MS = paced(3000);
const LONG = { ttl: LONG_TTL_MS, options: { maxTtl: LONG_TTL_MS } };

describe('a server', () => {
  test.concurrent('dies and comes back empty: the holder is told, then others get on', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    const scene = await Scene.set(bed, { holder: server, others: server });
    const fell = Date.now();
    await server.restart({ keepData: false });
    const { grant, next } = await scene.expectSucceeded();
    // What was granted before may have been renewed until the fall.
    expect(grant.at).toBeGreaterThanOrEqual(fell + MAX_TTL_MS);
    expect(scene.reasons).toEqual(['store-reset', 'store-reset']);
    expect(next.takeover).toBeUndefined();
    await scene.leave(server);
  });

  test.concurrent('dies and comes back with its data: the leases go on', async () => {
    await using bed = new Bed();
    const server = await bed.server({ persistent: true });
    const scene = await Scene.set(bed, { holder: server, others: server, ...LONG });
    await server.restart({ keepData: true });
    // Longer than a TTL: without heartbeats after the restart they would be dead.
    await scene.expectUndisturbed(LONG_TTL_MS * 1.2);
    await scene.leave(server);
  });

  test.concurrent('is dead for longer than a TTL, and has kept its data', async () => {
    await using bed = new Bed();
    const server = await bed.server({ persistent: true });
    const scene = await Scene.set(bed, { holder: server, others: server });
    await server.kill();
    await until('knew the holder', async () => scene.probed.told && scene.queued.told);
    expect(scene.reasons).toEqual(['expired', 'expired']);
    await server.start();
    const { next } = await scene.expectSucceeded();
    expect(next).toHaveProperty('held', true);
    await scene.leave(server);
  });

  test.concurrent('stands still past the TTL: the holder is told by its clock', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    const scene = await Scene.set(bed, { holder: server, others: server });
    server.pause();
    await until('knew the holder', async () => scene.probed.told && scene.queued.told);
    expect(scene.reasons).toEqual(['expired', 'expired']);
    server.resume();
    await scene.expectSucceeded();
    await scene.leave(server);
  });

  test.concurrent('stands still for a moment: the leases go on unconfirmed', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    const scene = await Scene.set(bed, { holder: server, others: server, ...LONG });
    server.pause();
    await until('doubted the holder', async () => scene.probed.lease.state === 'unconfirmed');
    server.resume();
    await until('was it confirmed', async () => scene.probed.lease.state === 'held');
    await scene.expectUndisturbed(LONG_TTL_MS);
    await scene.leave(server);
  });

  test.concurrent('is flushed: the holder is told, then others get on', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    const scene = await Scene.set(bed, { holder: server, others: server });
    const flushed = Date.now();
    await server.command('FLUSHALL');
    const { grant } = await scene.expectSucceeded();
    expect(grant.at).toBeGreaterThanOrEqual(flushed + MAX_TTL_MS);
    expect(scene.reasons).toEqual(['store-reset', 'store-reset']);
    await scene.leave(server);
  });

  test.concurrent('loses the record of the store alone: the leases go on', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    const scene = await Scene.set(bed, { holder: server, others: server, ...LONG });
    await server.command('DEL', 'holdfast!store');
    await scene.expectUndisturbed(LONG_TTL_MS * 1.2);
    await scene.leave(server);
  });

  test.concurrent('loses the scripts: nobody notices', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    const scene = await Scene.set(bed, { holder: server, others: server });
    await server.command('SCRIPT', 'FLUSH');
    await sleep(TTL_MS / 2);
    await server.command('SCRIPT', 'FLUSH');
    await scene.expectUndisturbed(TTL_MS * 1.2);
    await scene.leave(server);
  });

  test.concurrent('crashes again and again without its data: tokens grow', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    // Without the quarantine, so that the clock alone makes them grow.
    const locks = bed.locks(server, { afterDataLoss: 'trust' });
    let last = 0n;
    for (let i = 0; i < 5; i++) {
      const { token, release } = await patiently(locks.mutex('growing'));
      expect(token).toBeGreaterThan(last);
      last = token;
      await release();
      await server.restart({ keepData: false });
    }
  });
});
