/** The tests of the guide "Testing your app", which shows parts of this file. */
import { createLocks, evict, isLockError, type Locks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import type { SimulatedClock } from 'holdfast/testkit';
import { chaosStore, countingStore, faultyStore, simulatedClock } from 'holdfast/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Post, sendInvoices } from './invoices.ts';
import { expectShown } from './shown.ts';

/** A post that takes a minute for each invoice, on the clock of the test. */
class SlowPost implements Post {
  readonly sent: string[] = [];
  readonly #clock: SimulatedClock;
  readonly #invoices: readonly string[];

  constructor(clock: SimulatedClock, ...invoices: string[]) {
    this.#clock = clock;
    this.#invoices = invoices;
  }

  async due(): Promise<string[]> {
    return this.#invoices.filter((invoice) => !this.sent.includes(invoice));
  }

  async send(invoice: string): Promise<void> {
    await this.#clock.sleep('1m');
    this.sent.push(invoice);
  }
}

function newClock(seed?: number): SimulatedClock {
  const clock = simulatedClock(seed);
  onTestFinished(() => clock.stop());
  return clock;
}

test('an hour of work is done by one machine', async () => {
  const clock = newClock();
  const store = memoryStore({ clock });
  const machines = [createLocks(store, { clock }), createLocks(store, { clock })];
  const invoices = Array.from({ length: 60 }, (_, n) => `invoice ${n}`);
  const post = new SlowPost(clock, ...invoices);

  const outcomes = await Promise.all(machines.map((locks) => sendInvoices(locks, post)));

  expect(outcomes).toEqual([true, false]);
  expect(post.sent).toEqual(invoices);
});

test('who loses the lock stops, and another goes on', async () => {
  const clock = newClock();
  const store = memoryStore({ clock });
  const [one, other] = [createLocks(store, { clock }), createLocks(store, { clock })];
  const post = new SlowPost(clock, 'a', 'b', 'c');

  const first = sendInvoices(one, post).catch((error: unknown) => error);
  await clock.sleep('90s');
  const [holder] = (await other.inspect('invoices')).holders;
  await evict(other, 'invoices', { token: holder?.number ?? 0n, reason: 'test', now: true });

  expect(await first).toMatchObject({ code: 'LEASE_LOST', reason: 'evicted' });
  // What was under way came to its end; nothing new was begun.
  expect(post.sent).toEqual(['a', 'b']);
  expect(await sendInvoices(other, post)).toBe(true);
  expect(post.sent).toEqual(['a', 'b', 'c']);
});

test('when the store is away, work ends with the lease', async () => {
  const clock = newClock();
  const store = faultyStore(memoryStore({ clock }), clock);
  const locks = createLocks(store, { clock, ttl: '10s' });
  const events: string[] = [];
  locks.on('unconfirmed', ({ cause }) => events.push(`unconfirmed: ${cause?.message}`));
  locks.on('lost', ({ reason }) => events.push(`lost: ${reason}`));
  const post = new SlowPost(clock, 'a', 'b', 'c');

  const heal = store.inject({ verb: 'renew', arrives: 'never', answer: 'never' });
  await expect(sendInvoices(locks, post)).rejects.toMatchObject({ reason: 'expired' });
  heal();

  expect(events).toEqual([
    'unconfirmed: The store did not answer within 3333 ms.',
    'lost: expired',
  ]);
  expect(post.sent).toEqual(['a']);
  expect(await sendInvoices(locks, post)).toBe(true);
});

test.each([1, 2, 3, 4, 5])('whatever the network does, one at a time: seed %i', async (seed) => {
  const clock = newClock(seed);
  const store = memoryStore({ clock });
  const post = new SlowPost(clock, 'a', 'b', 'c', 'd', 'e');
  const holds: Hold[] = [];

  const machine = async (): Promise<void> => {
    const locks = createLocks(chaosStore(store, { clock }), { clock });
    record(locks, { clock, holds });
    while (post.sent.length < 5) {
      await sendInvoices(locks, post).catch((error) => {
        // It will try again: the store was away, or the lease was lost.
        if (!isLockError(error, 'STORE') && !isLockError(error, 'LEASE_LOST')) throw error;
      });
      await clock.sleep('10s');
    }
  };
  await Promise.all([machine(), machine(), machine()]);

  expect(new Set(post.sent)).toEqual(new Set(['a', 'b', 'c', 'd', 'e']));
  expect(holds.length).toBeGreaterThan(0);
  holds.sort((a, b) => a.grantedAt - b.grantedAt);
  for (const [i, later] of holds.slice(1).entries()) {
    expect(later.grantedAt).toBeGreaterThanOrEqual(holds[i]?.endedAt ?? 0);
    expect(later.token).toBeGreaterThan(holds[i]?.token ?? 0n);
  }
});

interface Hold {
  readonly token: bigint;
  readonly grantedAt: number;
  readonly endedAt: number;
}

/** Every hold of these locks, from the grant to the moment in which its holder gave it up. */
function record(
  locks: Locks,
  { clock, holds }: { readonly clock: SimulatedClock; readonly holds: Hold[] },
): void {
  let grantedAt = 0;
  locks.on('acquired', () => {
    grantedAt = clock.now();
  });
  const end = ({ token }: { token: bigint }): void => {
    holds.push({ token, grantedAt, endedAt: clock.now() });
  };
  locks.on('released', end);
  locks.on('lost', end);
}

test('a process prints what it held, and when', async () => {
  await using locks = createLocks(memoryStore());
  const step = async (): Promise<void> => {};
  const print = vi.spyOn(console, 'log').mockReturnValue();
  onTestFinished(() => print.mockRestore());

  const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;

  await locks.mutex('invoices').run(async ({ token }) => {
    const grantedAt = machineMs();
    await step();
    console.log(JSON.stringify({ token: `${token}`, grantedAt, endedAt: machineMs() }));
  });

  const { token, grantedAt, endedAt } = JSON.parse(print.mock.lastCall?.[0]);
  expect(BigInt(token)).toBeGreaterThan(0n);
  expect(endedAt).toBeGreaterThan(grantedAt);
});

test('an hour of work costs a request every few seconds', async () => {
  const clock = newClock();
  const store = countingStore(memoryStore({ clock }));
  const invoices = Array.from({ length: 60 }, (_, n) => `invoice ${n}`);

  await sendInvoices(createLocks(store, { clock, ttl: '30s' }), new SlowPost(clock, ...invoices));

  // A heartbeat after every third of the TTL, one claim, one release.
  expect(store.count('claim').requests).toBe(1);
  expect(store.count('release').requests).toBe(1);
  expect(store.count('renew').requests).toBeGreaterThan(300);
  expect(store.count('renew').requests).toBeLessThan(400);
});

test('the guide shows what is tested here', () => {
  const files = ['invoices.ts', 'testing-your-app.test.ts'];
  expectShown('testing-your-app.md', ...files.map((file) => new URL(file, import.meta.url)));
});
