/** The server dies, stands still, ends sessions, or loses what it was allowed to lose. */
import { describe, expect, test } from 'vitest';
import { MAX_TTL_MS } from '../faults/bed.ts';
import { firstGrant, Scene } from '../faults/scene.ts';
import { serversOfTheirOwn } from '../faults/sql-bed.ts';
import { rowFaults, serverFaults } from '../faults/sql-server.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

/** So lazy that a crash comes before what is committed is on disk. */
const LAZY = ['wal_writer_delay = 10s', 'wal_writer_flush_after = 0'];

describe.concurrent('a server', () => serverFaults(() => new Bed()));

describe.concurrent('a transaction locks', () => rowFaults(() => new Bed()));

describe.concurrent('a server that need not wait for its disk', () => {
  test('dies and comes back: whatever it forgot, nobody gets it before it is over', async () => {
    await using bed = new Bed();
    const server = await bed.server({ config: LAZY });
    const options = { durability: 'fast' } as const;
    const scene = await Scene.set(bed, { holder: server, others: server, options });
    const fell = Date.now();
    await server.restart();
    const fresh = await firstGrant(scene.prober, 'fresh');
    // What was granted before may have been renewed until the fall.
    expect(fresh.at).toBeGreaterThanOrEqual(fell + MAX_TTL_MS);
    await scene.prober.release([fresh.claim]);
    // Now and then it is quicker than its disk was lazy, and has forgotten nothing.
    if (scene.reasons.some(Boolean)) await scene.expectSucceeded();
    else await scene.expectUndisturbed(0);
    await scene.leave(server);
  });
});
