/**
 * The connection is cut in the middle of what is asked or answered, at many places: a claim has one
 * node at most while it is wanted, and none when it is not, however its requests were lost.
 */
import { downgrade, isLockError, type Lease, type Locks, tryAllOf } from 'holdfast';
import { expect, test } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { again, patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const server = await sharedServer();

const WAYS = ['toServer', 'toClient'] as const;

/** From within the first message to beyond what a lock and its release take. */
const CUTS = Array.from({ length: 40 }, (_, n) => 1 + n * 23);

/** Nothing ends of old age here: what stays would be seen. */
class CutBed extends Bed {
  readonly proxy: TcpProxy;
  readonly cut: Locks;

  static async make(): Promise<CutBed> {
    return new CutBed(await TcpProxy.start(server.port));
  }

  private constructor(proxy: TcpProxy) {
    super(server);
    this.proxy = this.serve(proxy);
    this.cut = this.patientLocks(proxy);
  }

  /** What was asked before has been answered then, or has failed. */
  async pass(): Promise<void> {
    await (await patiently(this.cut.mutex('passed'))).release();
  }

  /** Once with each cut, over a connection that is there. */
  async eachCut(way: (typeof WAYS)[number], work: Work): Promise<void> {
    let cuts = 0;
    for (const cutAfter of CUTS) {
      await this.pass();
      this.proxy[way].set({ cutAfter });
      await work();
      if (this.proxy[way].faults.cutAfter === undefined) cuts++;
      this.proxy.set();
      await until(`was nothing left after ${cutAfter} bytes`, async () => {
        return (await this.nodes('a')).length === 0;
      });
    }
    // Some are longer than what was sent.
    expect(cuts).toBeGreaterThan(CUTS.length / 5);
    await this.end(server);
  }
}

type Work = () => Promise<void>;

/** The work once with each cut, on each way; what is made before it is there for all of them. */
function cutting(title: string, made: (bed: CutBed) => Work | Promise<Work>): void {
  test.concurrent.each(WAYS)(`${title} (%s)`, async (way) => {
    await using bed = await CutBed.make();
    await bed.eachCut(way, await made(bed));
  });
}

cutting('a mutex that is waited for', async (bed) => {
  const others = bed.patientLocks(server);
  await (await others.mutex('a').acquire()).release();
  return async () => {
    const first = await patiently(others.mutex('a'));
    const next = patiently(bed.cut.mutex('a'));
    // Not for long: it may need its connection back first.
    await until('did it come', async () => (await bed.nodes('a')).length === 2);
    await first.release();
    const lease = await next;
    expect(lease.token).toBeGreaterThan(first.token);
    expect(await bed.nodes('a')).toHaveLength(1);
    await lease.release();
  };
});

cutting('permits that are taken by two', (bed) => {
  const some = bed.cut.semaphore('a', { limit: 3 });
  return async () => {
    const pair = await Promise.allSettled([some.acquire({ permits: 2 }), some.acquire()]);
    const leases = pair.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(leases).toHaveLength(2);
    expect(await bed.nodes('a')).toHaveLength(2);
    await Promise.all(leases.map((lease) => lease.release()));
  };
});

cutting('a writer that becomes a reader', (bed) => async () => {
  const lease = await patiently(bed.cut.rwLock('a').write);
  await again(() => downgrade(lease));
  const nodes = await bed.nodes('a');
  expect(nodes.map(({ path }) => /__[A-Z]+__/.exec(path)?.[0])).toEqual(['__READ__']);
  expect(lease.state).not.toBe('lost');
  await lease.release();
});

cutting('a try', (bed) => async () => {
  const lease = await bed.cut.mutex('a').tryAcquire().catch(doubt);
  expect(lease).not.toBe(null);
  await lease?.release();
});

cutting('a try of two locks', (bed) => async () => {
  const both = ['a', 'b'].map((name) => bed.cut.mutex(name));
  const leases = await tryAllOf(both).catch(doubt);
  expect(leases).not.toBe(null);
  await leases?.release();
  await until('was the other gone', async () => (await bed.nodes('b')).length === 0);
});

cutting('a wait that is given up', (bed) => async () => {
  const aborter = new AbortController();
  const { reached } = bed.proxy.toServer;
  const wait = bed.cut.mutex('a').acquire({ signal: aborter.signal });
  const over = wait.then(
    (lease) => lease.release(),
    () => {},
  );
  await until('was it sent', async () => bed.proxy.toServer.reached > reached);
  aborter.abort();
  await over;
  await bed.pass();
});

cutting('a claim that is sent again, and its release, too', (bed) => {
  const store = bed.store(bed.proxy);
  return async () => {
    const claim = claimOf('a');
    await until('was it granted', async () => (await store.claim([claim]))[0]?.state === 'held');
    expect(await bed.nodes('a')).toHaveLength(1);
    await again(() => store.release([claim]));
    expect(await bed.nodes('a')).toEqual([]);
    // Whatever else comes of it.
    expect((await store.claim([claim])).map(({ state }) => state)).not.toContain('waiting');
    await again(() => store.release([claim]));
  };
});

cutting('a hold that ends later', (bed) => {
  const store = bed.store(bed.proxy);
  return async () => {
    const claim = claimOf('a');
    await until('was it granted', async () => (await store.claim([claim]))[0]?.state === 'held');
    expect(await again(() => store.release([claim], { ms: 60 }))).toEqual([true]);
  };
});

test.concurrent.each(WAYS)('a hold that ends later in a session of its own (%s)', async (way) => {
  await using bed = new Bed(server);
  const moved = CUTS.filter((_, n) => n % 3 === 0).map(async (cutAfter) => {
    const { proxy } = await bed.behindProxy();
    const store = bed.store(proxy);
    const claim = claimOf(`a${cutAfter}`, { ttlMs: paced(3000) });
    const [status] = await store.claim([claim]);
    expect(status).toMatchObject({ state: 'held' });
    const [before] = await bed.nodes(claim.resource);
    proxy[way].set({ cutAfter });
    const began = performance.now();
    const laterMs = 2 * claim.ttlMs;
    expect(await again(() => store.release([claim], { ms: laterMs }))).toEqual([true]);
    proxy.set();
    const nodes = await bed.nodes(claim.resource);
    expect(nodes.map(({ path }) => path)).toEqual([before?.path]);
    expect(nodes[0]?.stat.session).not.toBe(before?.stat.session);
    await until('was it over', async () => (await bed.nodes(claim.resource)).length === 0);
    expect(performance.now() - began).toBeGreaterThanOrEqual(laterMs);
  });
  await Promise.all(moved);
});

function doubt(error: unknown): Lease | undefined {
  if (!isLockError(error, 'STORE')) throw error;
  return undefined;
}
