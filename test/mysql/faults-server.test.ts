/** The server dies, stands still, ends sessions, or loses what it was allowed to lose. */
import { describe, expect, test } from 'vitest';
import { MAX_TTL_MS } from '../faults/bed.ts';
import { firstGrant, Scene } from '../faults/scene.ts';
import { serversOfTheirOwn } from '../faults/sql-bed.ts';
import { rowFaults, serverFaults } from '../faults/sql-server.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

/** So lazy that a crash comes before what is committed is on disk, its own laziness included. */
const LAZY = ['--innodb-flush-log-at-trx-commit=0', '--innodb-flush-log-at-timeout=10'];

describe.concurrent('a server', () => serverFaults(() => new Bed()));

describe.concurrent('a transaction locks', () => rowFaults(() => new Bed()));

describe.concurrent('a server that does not wait for its disk', () => {
  test('dies and comes back: whatever it forgot, nobody gets it before it is over', async () => {
    await using bed = new Bed();
    const server = await bed.server({ config: LAZY });
    const scene = await Scene.set(bed, { holder: server, others: server });
    const fell = Date.now();
    await server.restart();
    const fresh = await firstGrant(scene.prober, 'fresh');
    // What was granted before may have been renewed until the fall.
    expect(fresh.at).toBeGreaterThanOrEqual(fell + MAX_TTL_MS);
    await scene.prober.release([fresh.claim]);
    // Now and then its disk was quick, and it has forgotten nothing.
    if (scene.reasons.some(Boolean)) await scene.expectSucceeded();
    else await scene.expectUndisturbed(0);
    await scene.leave(server);
  });
});
