/**
 * The suite for fences: checks the promises of every fence on a real one, with any test runner.
 *
 * At its core, two holders take their steps in every possible order, and the older one believes for
 * too long that it holds. They use the same fence in two ways: they enter it before the first read,
 * or only when writing. The second loses updates, in numbers that the suite knows; if it lost none,
 * the orders would prove nothing about the first, which must lose none.
 */
import assert from 'node:assert/strict';
import { isLockError } from '../base/errors.ts';
import type { FencingToken } from '../contract/token.ts';
import type { StaleTokenError } from '../fences/errors.ts';

/** The number, as a holder uses it. */
export interface FencedNumber {
  read(): Promise<number>;
  /** Checks and writes in one step. */
  write(value: number): Promise<void>;
}

/** A number that a lock guards, with its fence; 0 at first. */
export interface FenceFixture {
  /** Raises the fence, or rejects with `StaleTokenError`. */
  enter(lease: FencingToken): Promise<FencedNumber>;
  adopt(lease: FencingToken): Promise<unknown>;
  /** Reads the number past the fence. */
  look(): Promise<number>;
  close?(): Promise<void>;
}

export interface FenceConformanceOptions {
  /** Registers a case. Cases share nothing and may run at the same time. */
  test(name: string, body: () => Promise<void>): unknown;
  /** A new number, guarded by the lock of this name. */
  create(resource: string): FenceFixture | Promise<FenceFixture>;
}

/** One number, and leases of its lock. */
interface FenceBed extends FenceFixture {
  lease(token: bigint, more?: Partial<FencingToken>): FencingToken;
}

/** Enters; reads; writes one more than it read; or enters only now, and writes. */
type FenceStep = 'enter' | 'read' | 'write' | 'enter and write';

/** The older holder makes two updates, the newer one makes one. */
const CLAIM_FIRST: readonly FenceStep[] = ['enter', 'read', 'write', 'read', 'write'];
const WRITE_ONLY: readonly FenceStep[] = ['read', 'enter and write', 'read', 'enter and write'];

const CASES: Readonly<Record<string, (bed: FenceBed) => Promise<void>>> = {
  async 'the newest holder passes, an older one never again'({ enter, lease }) {
    await enter(lease(33n));
    await enter(lease(33n));
    const newest = await enter(lease(34n));
    await refused(enter(lease(33n)), { token: 33n, seen: 34n });
    await newest.write(1);
    await enter(lease(34n));
  },
  async 'a holder that has only read already stops the older one'({ enter, lease, look }) {
    const older = await enter(lease(33n));
    await older.write(10);
    const newer = await enter(lease(34n));
    assert.equal(await newer.read(), 10);
    await refused(older.write(9), { token: 33n, seen: 34n });
    assert.equal(await look(), 10);
    await newer.write(9);
    assert.equal(await look(), 9);
  },
  async 'entered before the first read, none of 67 updates is lost, in 56 orders'(bed) {
    const tally = await everyOrder(bed, CLAIM_FIRST, 3);
    assert.deepEqual(tally, { orders: 56, written: 67, lost: 0, inOrders: 0 });
  },
  async 'entered only when writing, 10 of 32 updates are lost, in 8 of 15 orders'(bed) {
    const tally = await everyOrder(bed, WRITE_ONLY, 2);
    assert.deepEqual(tally, { orders: 15, written: 32, lost: 10, inOrders: 8 });
  },
  async 'writers stay behind readers, and readers behind writers'({ enter, lease, look }) {
    const reader = (token: bigint) => enter(lease(token, { kind: 'read' }));
    const writer = (token: bigint) => enter(lease(token, { kind: 'write' }));
    const first = await writer(5n);
    await first.write(1);
    assert.equal(await (await reader(7n)).read(), 1);
    await reader(6n);
    await refused(first.write(2), { token: 5n, seen: 7n });
    await refused(writer(6n), { token: 6n, seen: 7n });
    await writer(8n);
    await refused(reader(7n), { token: 7n, seen: 8n });
    await reader(8n);
    await reader(9n);
    await refused(writer(8n), { token: 8n, seen: 9n });
    assert.equal(await look(), 1);
  },
  async 'another lineage is refused until an operator adopts it'({ enter, adopt, lease, look }) {
    const other = (token: bigint) => lease(token, { lineage: 'zwei \u{1f512}' });
    const entry = await enter(lease(34n));
    await assert.rejects(enter(other(99n)), /another store, suite;/);
    await adopt(other(1n));
    await assert.rejects(entry.write(1), /another store, zwei \u{1f512};/u);
    await (await enter(other(1n))).write(2);
    await assert.rejects(enter(lease(99n)), /another store, zwei/);
    assert.equal(await look(), 2);
  },
  async 'tokens are kept apart that a double cannot'({ enter, lease }) {
    const big = 2n ** 63n - 2n;
    await enter(lease(9n));
    await enter(lease(10n));
    await enter(lease(big + 1n));
    await refused(enter(lease(big)), { token: big, seen: big + 1n });
  },
  async 'permits are no matter of a fence'({ enter, lease }) {
    const permits = async (): Promise<unknown> => enter(lease(1n, { kind: 'permits' }));
    await assert.rejects(permits, (error) => isLockError(error, 'UNSUPPORTED'));
  },
};

/**
 * Registers all cases with the given runner.
 *
 * A case fails by rejecting with an `AssertionError`.
 *
 * @example
 * import { test } from 'node:test';
 * import { fenceConformance } from 'holdfast/testkit';
 *
 * fenceConformance({ test, create: (resource) => numberBehindMyFence(resource) });
 *
 * @experimental Cases are added in minor versions.
 */
export function fenceConformance({ test, create }: FenceConformanceOptions): void {
  Object.entries(CASES).forEach(([name, run], n) => {
    test(`fence: ${name}`, async () => {
      const resource = `suite:${n} ß/{x}`;
      const fixture = await create(resource);
      const bed: FenceBed = {
        lease: (token, more = {}) => ({ resource, lineage: 'suite', token, ...more }),
        enter: async (lease) => fixture.enter(lease),
        adopt: async (lease) => fixture.adopt(lease),
        look: () => fixture.look(),
      };
      try {
        await run(bed);
      } finally {
        await fixture.close?.();
      }
    });
  });
}

/** @param terms what the error must contain. */
function refused(attempt: Promise<unknown>, terms: Pick<StaleTokenError, 'token' | 'seen'>) {
  return assert.rejects(attempt, (error) => {
    assert.ok(isLockError(error, 'STALE_TOKEN'), `expected a stale token, got ${String(error)}`);
    const { token, seen } = error as StaleTokenError;
    assert.deepEqual({ token, seen }, terms);
    return true;
  });
}

/**
 * Plays all orders on one number, which only grows. The newer holder takes the first `most` of the
 * older one's steps; in each order both have new tokens. Counts the updates that were accepted
 * (`written`), and those of them that were then overwritten (`lost`).
 */
async function everyOrder(bed: FenceBed, steps: readonly FenceStep[], most: number) {
  const tally = { orders: 0, written: 0, lost: 0, inOrders: 0 };
  for (const order of orders(steps.length, most)) {
    const token = BigInt(2 * tally.orders + 1);
    const older = playerOf(bed, bed.lease(token), steps);
    const newer = playerOf(bed, bed.lease(token + 1n), steps.slice(0, most));
    const before = await bed.look();
    let written = 0;
    for (const who of order) written += await (who === 0 ? older : newer)();
    const lost = written - ((await bed.look()) - before);
    tally.orders++;
    tally.written += written;
    tally.lost += lost;
    tally.inOrders += lost > 0 ? 1 : 0;
  }
  return tally;
}

/** All ways to put this many zeros and ones in a row. */
function orders(zeros: number, ones: number): number[][] {
  if (zeros === 0 || ones === 0) return [[...Array(zeros).fill(0), ...Array(ones).fill(1)]];
  return [
    ...orders(zeros - 1, ones).map((rest) => [0, ...rest]),
    ...orders(zeros, ones - 1).map((rest) => [1, ...rest]),
  ];
}

/** Takes a step at each call, until the fence refuses it; returns how often it has written then. */
function playerOf({ enter, look }: FenceBed, lease: FencingToken, steps: readonly FenceStep[]) {
  let left = steps;
  let entry: FencedNumber | undefined;
  let value = 0;
  const take = async (step: FenceStep | undefined): Promise<0 | 1> => {
    if (step === 'read') value = await (entry ? entry.read() : look());
    else if (step === 'enter') entry = await enter(lease);
    else if (step) {
      const writes = step === 'write' ? entry : await enter(lease);
      await writes?.write(value + 1);
      return 1;
    }
    return 0;
  };
  return async (): Promise<0 | 1> => {
    const [step, ...rest] = left;
    left = rest;
    try {
      return await take(step);
    } catch (error) {
      if (!isLockError(error, 'STALE_TOKEN')) throw error;
      left = [];
      return 0;
    }
  };
}
