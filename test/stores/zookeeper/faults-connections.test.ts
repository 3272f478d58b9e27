/** The network between a process and the server is gone, halfway gone, or slow. */
import type { Lease, Locks } from 'holdfast';
import { describe, expect, test } from 'vitest';
import { hasWaiter, inBeds, LONG_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { holdersFaults, lateness } from '../../methods/faults/connections.ts';
import { patiently } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const server = await sharedServer();

const newBed = (): Bed => new Bed(server);
const inBed = inBeds(newBed);

holdersFaults(newBed, { zookeeper: {} });

describe('what comes late', () => lateness(newBed, { copies: false }));

type Take = (locks: Locks, n: number) => Promise<Lease>;

/** What many want of one queue; the first one has it alone. */
const QUEUES: Readonly<Record<string, Take>> = {
  'a mutex': (locks) => locks.mutex('a', { fair: true }).acquire(),
  'readers and writers': (locks, n) => {
    const { read, write } = locks.rwLock('a', { fair: true });
    return (n % 3 === 0 ? write : read).acquire();
  },
  permits: (locks, n) => locks.semaphore('a', { limit: 3 }).acquire({ permits: 3 - (n % 3) }),
};

describe.concurrent('a path', () => {
  inBed('that is broken is known at once, and when it is back', async (bed) => {
    const { proxy } = await bed.behindProxy();
    const lease = await patiently(bed.patientLocks(proxy).mutex('a'));
    expect(lease.state).toBe('held');
    proxy.refuse();
    proxy.reset();
    await until('was it doubted', async () => lease.state === 'unconfirmed');
    // The next heartbeat is not due before a third of it has gone.
    expect(lease.remainingMs).toBeGreaterThan(LONG_TTL_MS * 0.7);
    await proxy.accept();
    await until('was it confirmed', async () => lease.state === 'held');
    await lease.release();
    await bed.end(server);
  });

  inBed('that breaks under the last words of a process lets others in', async (bed) => {
    const { proxy } = await bed.behindProxy();
    const [holding, waiting] = [bed.patientLocks(proxy), bed.patientLocks(server)];
    const lease = await patiently(holding.mutex('a'));
    const next = patiently(waiting.mutex('a'));
    await hasWaiter(waiting, 'a');
    proxy.toServer.set({ cutAfter: 0 });
    await lease.release();
    await holding.close();
    // Long before the session that has the node would have been over.
    await (await next).release();
    await bed.end(server);
  });

  test.concurrent.each(Object.entries(QUEUES))(
    'that breaks again and again: each who waits gets in (%s)',
    async (name, take) => {
      await using bed = newBed();
      const { proxy } = await bed.behindProxy();
      const all = Array.from({ length: 5 }, () => bed.patientLocks(proxy));
      const first = await take(bed.patientLocks(server), 0);
      const granted: bigint[] = [];
      const hold = async (lease: Lease): Promise<void> => {
        granted.push(lease.token);
        await sleep(Math.random() * 10);
        await lease.release();
      };
      const waits = all.flatMap((locks) => {
        const tenth = (_: unknown, n: number): Promise<void> => take(locks, n).then(hold);
        return Array.from({ length: 10 }, tenth);
      });
      const over = Promise.all(waits).then(() => true);
      const observer = bed.patientLocks(server);
      const waiters = async (): Promise<bigint[]> => {
        return (await observer.inspect('a')).waiters.map(({ number }) => number);
      };
      await until('did all wait', async () => (await waiters()).length === waits.length);
      const inOrder = await waiters();
      await first.release();
      while (!(await Promise.race([over, sleep(Math.random() * 60)]))) proxy.reset();
      // Several who get in at one moment hear of it in any order.
      const byNumber = [...granted].sort((a, b) => (a < b ? -1 : 1));
      expect(name === 'a mutex' ? granted : byNumber).toEqual(inOrder);
      await bed.end(server);
    },
  );
});
