/**
 * The clock of the server jumps. Ahead, claims end before their time and no client can know: two
 * do believe that they hold, the fence holds, and a warning is raised. Back, claims live longer.
 */
import type { Claim } from 'holdfast/store';
import { describe, expect } from 'vitest';
import { claimOf, hasWaiter, inTurn, MAX_TTL_MS, TTL_MS } from '../../methods/faults/bed.ts';
import { Fenced } from '../../methods/faults/fenced.ts';
import { firstGrant } from '../../methods/faults/scene.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { SteppedClock } from '../../servers/stepped-clock.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed } from './bed.ts';

const inBed = inTurn(() => new Bed());

/** Long enough to look at two who believe, on the busiest machine. */
const LONG_TTL_MS = paced(9000);

const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;

type Stepped = { readonly clock: SteppedClock; readonly server: RedisServer };

async function stepped(bed: Bed): Promise<Stepped> {
  const clock = bed.serve(await SteppedClock.create());
  return { clock, server: await bed.server({ env: clock.env }) };
}

// One after the other, for warnings are the whole process's.
describe("a server's clock", () => {
  inBed('jumps ahead: two believe, the fence holds, and the process is warned', async (bed) => {
    const { clock, server } = await stepped(bed);
    const proxy = bed.serve(await TcpProxy.start(server.port));
    const heard = bed.use(hearWarnings());
    const [near, far] = [server, proxy].map((at) => bed.store(at, { maxTtl: LONG_TTL_MS }));
    const lease = await patiently(bed.locksOn(far!, LONG_TTL_MS).mutex('jumped'));
    await near!.inspect('jumped');
    // So that it cannot hear of it before we have looked.
    proxy.set({ flow: 'hold' });
    clock.step(2 * LONG_TTL_MS);
    const { token } = await firstGrant(near!, 'jumped');
    expect(lease).toHaveProperty('held', true);
    expect(token * 1024n).toBeGreaterThan(lease.token);
    const fenced = bed.use(new Fenced());
    const { resource, lineage } = lease;
    expect(fenced.write(lease, 'the first')).toBe('written');
    expect(fenced.write({ resource, lineage, token: token * 1024n }, 'the new')).toBe('written');
    expect(fenced.write(lease, 'the first again')).toBe('STALE_TOKEN');
    await until('was it warned', async () => heard.codes.includes('HOLDFAST_CLOCK_JUMP'));
    // As soon as it hears anything, the holder knows.
    proxy.set();
    await until('was it lost', async () => lease.loss?.reason === 'expired');
  });

  inBed('jumps back: leases go on, tokens grow, and the process is warned', async (bed) => {
    const { clock, server } = await stepped(bed);
    const heard = bed.use(hearWarnings());
    const [locks, others, more] = [bed.locks(server), bed.locks(server), bed.locks(server)];
    const idle = await patiently(locks.mutex('idle'));
    await idle.release();
    const lease = await patiently(locks.mutex('held'));
    // Its number is in its queue alone.
    const earlier = patiently(more.mutex('held'));
    await hasWaiter(more, 'held');
    clock.step(-60_000);
    const again = await patiently(others.mutex('idle'));
    expect(again.token).toBeGreaterThan(idle.token);
    const waiting = patiently(others.mutex('held'));
    await hasWaiter(others, 'held', 2);
    await until('was it warned', async () => heard.codes.includes('HOLDFAST_CLOCK_JUMP'));
    expect(lease).toHaveProperty('held', true);
    await lease.release();
    const next = await earlier;
    expect(next.token).toBeGreaterThan(lease.token);
    await next.release();
    expect((await waiting).token).toBeGreaterThan(next.token);
  });

  inBed('is a century ahead for a while: nothing is granted, and then tokens grow', async (bed) => {
    const { clock, server } = await stepped(bed);
    const store = bed.store(server);
    const before = await firstGrant(store, 'later');
    await store.release([before.claim]);
    clock.step(100 * YEAR_MS);
    const message = expect.stringContaining('2112');
    const refused = { retryable: true, outcome: 'failed', message };
    await expect(store.inspect('later')).rejects.toMatchObject(refused);
    clock.step(-100 * YEAR_MS);
    const after = await firstGrant(store, 'later');
    expect(after.token).toBeGreaterThan(before.token);
  });

  inBed('jumps back while the holder is dead: the others get on so much later', async (bed) => {
    const { clock, server } = await stepped(bed);
    const proxy = bed.serve(await TcpProxy.start(server.port));
    const lease = await patiently(bed.locks(proxy).mutex('held'));
    const waiting = patiently(bed.locks(server).mutex('held'));
    proxy.set({ flow: 'swallow' });
    clock.step(-TTL_MS);
    const next = await waiting;
    expect(lease.held).toBe(false);
    expect(next.takeover).toEqual({ reason: 'expired', token: lease.token });
  });

  inBed('jumps back: one of several that dies after a renewal holds for its TTL', async (bed) => {
    const { clock, server } = await stepped(bed);
    const store = bed.store(server);
    const shares = { kind: 'permits', limit: 2, ttlMs: TTL_MS } as const;
    const [dead, living, next] = [1, 2, 3].map(() => claimOf('pool', shares)) as [
      Claim,
      Claim,
      Claim,
    ];
    const held = { state: 'held' };
    expect(await store.claim([dead, living])).toMatchObject([held, held]);
    // Longer than a test may wait.
    clock.step(-DAY_MS);
    await store.renew([dead, living]);
    await until('was its permit free', async () => {
      await store.renew([living]);
      return (await store.claim([next]))[0]?.state === 'held';
    });
  });

  inBed('jumps back by a year in a quarantine, which begins anew at most', async (bed) => {
    const { clock, server } = await stepped(bed);
    const store = bed.store(server);
    const waits = { state: 'waiting', why: 'data-loss' };
    await server.command('FLUSHALL');
    expect(await store.claim([claimOf('before')])).toMatchObject([waits]);
    clock.step(-YEAR_MS);
    const [status] = await store.claim([claimOf('after')]);
    expect(status).toMatchObject(waits);
    expect(status?.state === 'waiting' && status.retryInMs).toBeLessThanOrEqual(MAX_TTL_MS);
    // What was written before counts from then on.
    await firstGrant(store, 'later');
  });

  inBed('jumps back in a quarantine, in which nothing is granted too soon', async (bed) => {
    const { clock, server } = await stepped(bed);
    const locks = bed.locks(server);
    const lease = await patiently(locks.mutex('held'));
    await server.command('FLUSHALL');
    const flushed = Date.now();
    clock.step(-TTL_MS);
    const next = await patiently(bed.locks(server).mutex('held'));
    expect(lease.held).toBe(false);
    expect(Date.now()).toBeGreaterThanOrEqual(flushed + MAX_TTL_MS);
    expect(next.token).toBeGreaterThan(0n);
  });
});
