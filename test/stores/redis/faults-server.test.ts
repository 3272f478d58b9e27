/** The server dies, stands still, or loses its data. */
import { describe, expect, test } from 'vitest';
import { MAX_TTL_MS, onServer, sleep } from '../../methods/faults/bed.ts';
import { Scene } from '../../methods/faults/scene.ts';
import { absentServer } from '../../methods/faults/server.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { Bed } from './bed.ts';

/** Two heartbeats may fail and the lease goes on, also on a busy machine. */
const LONG_TTL_MS = paced(3000);

const onOwn = onServer(() => new Bed());

/** Its server keeps its data when it dies. */
class LastingBed extends Bed {
  override server(): Promise<RedisServer> {
    return super.server({ persistent: true });
  }
}

type Happening = readonly [what: string, happen: (server: RedisServer) => Promise<unknown>];

const LOSSES: readonly Happening[] = [
  ['dies and comes back empty', (server) => server.restart({ keepData: false })],
  ['is flushed', (server) => server.command('FLUSHALL')],
];

const TROUBLES: readonly Happening[] = [
  ['dies and comes back with its data', (server) => server.restart({ keepData: true })],
  ['loses the record of the store alone', (server) => server.command('DEL', 'holdfast:!record')],
  [
    'loses the scripts, twice',
    async (server) => {
      await server.command('SCRIPT', 'FLUSH');
      await sleep(LONG_TTL_MS / 2);
      await server.command('SCRIPT', 'FLUSH');
    },
  ],
];

describe('a server', () => {
  absentServer(() => new LastingBed());

  test.concurrent.each(LOSSES)('%s: the holder is told, then others get on', async (_, happen) => {
    await using bed = new Bed();
    const server = await bed.server();
    const scene = await Scene.set(bed, { holder: server, others: server });
    const fell = Date.now();
    await happen(server);
    const { grant, next } = await scene.expectSucceeded();
    // What was granted before may have been renewed until the fall.
    expect(grant.at).toBeGreaterThanOrEqual(fell + MAX_TTL_MS);
    expect(scene.reasons).toEqual(['store-reset', 'store-reset']);
    expect(next.takeover).toBeUndefined();
    await scene.leave(server);
  });

  test.concurrent.each(TROUBLES)('%s: the leases go on', async (_, happen) => {
    await using bed = new LastingBed();
    const server = await bed.server();
    const scene = await Scene.set(bed, { holder: server, others: server, ttl: LONG_TTL_MS });
    await happen(server);
    // Longer than a TTL: without heartbeats afterwards they would be dead.
    await scene.expectUndisturbed(LONG_TTL_MS * 1.2);
    await scene.leave(server);
  });

  onOwn('crashes again and again without its data: tokens grow', async (bed, server) => {
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
