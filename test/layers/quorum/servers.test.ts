/** A quorum of five real servers, of which two fail in one way or another while others go on. */
import type { Locks } from 'holdfast';
import { quorum } from 'holdfast/quorum';
import { describe, expect, it } from 'vitest';
import { Crowd } from '../../methods/faults/crowd.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { startFive } from '../../servers/topologies.ts';
import { Bed } from '../../stores/redis/bed.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';

/** Three heartbeats fit even when the machine is busy. */
const TTL_MS = paced(1_500);

async function five(bed: Bed): Promise<RedisServer[]> {
  return (await startFive()).map((server) => bed.serve(server));
}

function connect(bed: Bed, servers: readonly RedisServer[]): Locks {
  const members = servers.map((server) => bed.store(server, { maxTtl: TTL_MS }));
  return bed.locksOn(quorum(members), TTL_MS);
}

const FAULTS: readonly (readonly [name: string, fail: Act, heal: Act])[] = [
  ['are killed and start again without their data', (each) => each.kill(), (each) => each.start()],
  ['stand still for a while', async (each) => each.pause(), async (each) => each.resume()],
  ['forget everything', async (each) => void (await each.command('FLUSHALL')), async () => {}],
];

type Act = (server: RedisServer) => Promise<unknown>;

describe('five servers, of which two', () => {
  it.each(FAULTS)('%s', async (_, fail, heal) => {
    await using bed = new Bed();
    const servers = await five(bed);
    const all = [1, 2, 3].map(() => connect(bed, servers));
    const crowd = bed.use(new Crowd(all, ['turns'], { strict: true }));
    await crowd.goesOn(10);
    // The lowest, where everybody waits, and another.
    for (const i of [0, 3]) await fail(servers[i] as RedisServer);
    await crowd.goesOn(20);
    for (const i of [0, 3]) await heal(servers[i] as RedisServer);
    await crowd.goesOn(20);
    // Now the others: the two that failed are needed.
    for (const i of [1, 4]) await fail(servers[i] as RedisServer);
    await crowd.goesOn(10);
    for (const i of [1, 4]) await heal(servers[i] as RedisServer);
    await crowd.goesOn(10);
    await crowd.expectOrder();
  });

  it('are needed for a majority end a wait with an error, the hold at its deadline', async () => {
    await using bed = new Bed();
    const servers = await five(bed);
    const [a, b] = [connect(bed, servers), connect(bed, servers)];
    const lease = await a.mutex('held').acquire();
    for (const server of servers.slice(0, 3)) server.pause();
    await expect(b.mutex('other').acquire()).rejects.toMatchObject({ code: 'STORE' });
    await until('the lease was lost', async () => !lease.held);
    expect(lease.loss?.reason).toMatch(/expired|stalled/);
    for (const server of servers.slice(0, 3)) server.resume();
    const next = await b.mutex('held').acquire();
    expect(next.token).toBeGreaterThan(lease.token);
    await next.release();
  });
});
