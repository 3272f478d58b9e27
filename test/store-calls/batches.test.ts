import type { Lease } from 'holdfast';
import { describe, expect } from 'vitest';
import {
  type Bed,
  failure,
  held,
  it,
  setUp,
  silence,
  waiting,
  watchOutcome,
} from '../support/scripted-store.ts';

function names(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `r${String(n).padStart(4, '0')}`);
}

async function acquireAll(bed: Bed, resources: readonly string[]): Promise<Lease[]> {
  const acquired = resources.map((name) => bed.locks.mutex(name).acquire());
  await bed.clock.rest();
  return Promise.all(acquired);
}

function sizes(bed: Bed, verb: 'claim' | 'renew' | 'release'): number[] {
  return bed.store.sent(verb).map((call) => call.claims.length);
}

describe('requests', () => {
  it('leave at once; what comes meanwhile is collected, at most 100 a batch', async ({ bed }) => {
    bed.store.onClaim = () => bed.late(10, held());
    bed.locks.mutex('first').acquire();
    await bed.clock.rest();
    const rest = names(250).map((name) => bed.locks.mutex(name).acquire());
    await bed.clock.advance(9);
    expect(sizes(bed, 'claim')).toEqual([1]);
    await bed.clock.advance(31);
    expect(sizes(bed, 'claim')).toEqual([1, 100, 100, 50]);
    expect((await Promise.all(rest)).every((lease) => lease.held)).toBe(true);
  });

  it('of a crowd leave in portions, some at once, where the store has them', async () => {
    const bed = setUp({}, { portion: 32 });
    bed.store.onClaim = () => bed.late(10, held());
    bed.store.onRelease = () => bed.late(10, true);
    const all = names(250).map((name) => bed.locks.mutex(name).acquire());
    await bed.clock.rest();
    // One is the current one, and so many are under way beside it.
    expect(sizes(bed, 'claim')).toEqual([32, 32, 32, 32, 32]);
    await bed.clock.advance(10);
    expect(sizes(bed, 'claim')).toEqual([32, 32, 32, 32, 32, 32, 32, 26]);
    await bed.clock.advance(3_400);
    expect(sizes(bed, 'renew')).toEqual([100, 100, 50]);
    const leases = await Promise.all(all);
    const left = Promise.all(leases.map((lease) => lease.release()));
    await bed.clock.rest();
    expect(sizes(bed, 'release')).toEqual([32, 32, 32, 32, 32]);
    await bed.clock.advance(20);
    await left;
  });

  it('about one claim keep their order, also in portions', async () => {
    const bed = setUp({}, { portion: 1 });
    bed.store.onClaim = () => bed.late(10, waiting());
    const aborter = new AbortController();
    const { signal } = aborter;
    const waits = ['a', 'b'].map((name) => watchOutcome(bed.locks.mutex(name).acquire({ signal })));
    await bed.clock.rest();
    expect(sizes(bed, 'claim')).toEqual([1, 1]);
    aborter.abort(new Error('no'));
    await bed.clock.advance(10);
    expect(waits.every(({ done }) => done)).toBe(true);
    expect(sizes(bed, 'release')).toEqual([1, 1]);
  });

  it('are sorted by resource', async ({ bed }) => {
    bed.store.onClaim = () => bed.late(10, held());
    bed.locks.mutex('first').acquire();
    await bed.clock.rest();
    for (const name of ['b', 'é', 'a', 'Z', 'z', 'aa']) bed.locks.mutex(name).acquire();
    await bed.clock.advance(10);
    const resources = bed.store.sent('claim')[1]?.claims.map(({ resource }) => resource);
    expect(resources).toEqual(['Z', 'a', 'aa', 'b', 'z', 'é']);
  });

  for (const sequential of [false, true]) {
    it(`have one of each resource in a batch, unless it is sequential: ${sequential}`, async () => {
      const bed = setUp({ sequential });
      bed.store.onClaim = () => bed.late(10, held());
      const semaphore = bed.locks.semaphore('s', { limit: 9 });
      bed.locks.mutex('first').acquire();
      await bed.clock.rest();
      for (let i = 0; i < 3; i++) semaphore.acquire();
      bed.locks.mutex('other').acquire();
      await bed.clock.advance(100);
      expect(sizes(bed, 'claim')).toEqual(sequential ? [1, 4] : [1, 2, 1, 1]);
      expect(new Set(bed.store.entered.map(({ id }) => id)).size).toBe(5);
    });
  }

  it('of a synchronous store are what one microtask brings', async () => {
    const bed = setUp({ synchronous: true, sequential: true });
    const leases = await acquireAll(bed, names(30));
    for (const lease of leases) void lease.release();
    await bed.clock.rest();
    expect([sizes(bed, 'claim'), sizes(bed, 'release')]).toEqual([[30], [30]]);
  });

  it('leave at once if they are releases to a synchronous store with portions', async () => {
    const bed = setUp({ synchronous: true, sequential: true }, { portion: 100 });
    const leases = await acquireAll(bed, names(30));
    expect(sizes(bed, 'claim')).toEqual([30]);
    for (const lease of leases) void lease.release();
    expect(sizes(bed, 'release')).toEqual([1]);
    await bed.clock.rest();
    expect(sizes(bed, 'release')).toEqual([1, 29]);
  });
});

describe('a batch that fails', () => {
  it('for what is in it is halved until the culprit stands alone', async ({ bed }) => {
    bed.store.onClaim = ({ resource }) => {
      if (resource === 'r0037') throw failure({ retryable: false, outcome: 'failed' });
      return held();
    };
    const outcomes = names(64).map((name) => watchOutcome(bed.locks.mutex(name).acquire()));
    await bed.clock.rest();
    expect(outcomes.filter(({ error }) => error !== undefined)).toHaveLength(1);
    expect(outcomes[37]?.error).toMatchObject({ code: 'STORE', retryable: false });
    expect(outcomes.filter(({ value }) => value?.held)).toHaveLength(63);
    expect(bed.store.sent('claim').length).toBeLessThanOrEqual(1 + 2 * 6);
  });

  it('and is halved counts each heartbeat once', async ({ bed }) => {
    await acquireAll(bed, names(64));
    let [claims, failed] = [0, 0];
    bed.locks.on('heartbeat', (event) => {
      claims += event.claims;
      failed += event.failed;
    });
    bed.store.onRenew = ({ resource }) => {
      if (resource === 'r0037') throw failure({ retryable: false, outcome: 'failed' });
      return held();
    };
    await bed.clock.advance(3_400);
    expect([claims, failed]).toEqual([64, 1]);
  });

  for (const over of [{ retryable: true, outcome: 'failed' }, { outcome: 'unknown' }] as const) {
    it(`for another reason is not halved: ${JSON.stringify(over)}`, async ({ bed }) => {
      let asked = 0;
      bed.store.onClaim = () => {
        if (asked++ < 8) throw failure(over);
        return held();
      };
      const outcomes = names(8).map((name) => watchOutcome(bed.locks.mutex(name).acquire()));
      await bed.clock.rest();
      expect(sizes(bed, 'claim')).toEqual([8]);
      await bed.clock.advance(60);
      expect(outcomes.every(({ value }) => value?.held)).toBe(true);
    });
  }

  it('in one element fails that one alone', async ({ bed }) => {
    bed.store.onClaim = ({ resource }) =>
      resource === 'r0001'
        ? { state: 'error', error: failure({ retryable: false, outcome: 'failed' }) }
        : held();
    const outcomes = names(3).map((name) => watchOutcome(bed.locks.mutex(name).acquire()));
    await bed.clock.rest();
    expect(outcomes.map(({ value }) => value?.held)).toEqual([true, undefined, true]);
    expect(outcomes[1]?.error).toMatchObject({ code: 'STORE' });
  });

  it('with something that is no error of ours is of unknown outcome', async ({ bed }) => {
    bed.store.onClaim = () => Promise.reject('plain text');
    const tried = watchOutcome(bed.locks.mutex('a').tryAcquire());
    await bed.clock.rest();
    const cause = 'plain text';
    expect(tried.error).toMatchObject({
      ...{ code: 'STORE', outcome: 'unknown', retryable: true, cause },
    });
  });
});

describe('heartbeats', () => {
  it('of 250 leases of one TTL are 3 requests an interval', async ({ bed }) => {
    await acquireAll(bed, names(250));
    for (let beats = 1; beats <= 3; beats++) {
      await bed.clock.advance(10_000 / 3);
      expect(sizes(bed, 'renew')).toHaveLength(3 * beats);
    }
    expect(sizes(bed, 'renew').slice(0, 3)).toEqual([100, 100, 50]);
  });

  it('cover waiters and holders alike', async ({ bed }) => {
    await acquireAll(bed, ['a']);
    bed.store.onClaim = () => ({ ...held(), state: 'waiting', why: 'queue', retryInMs: 10_000 });
    bed.locks.mutex('b').acquire();
    await bed.clock.advance(10_000 / 3);
    expect(sizes(bed, 'renew')).toEqual([2]);
  });

  it('do not stand behind claims or releases', async ({ bed }) => {
    const [lease, other] = await acquireAll(bed, ['a', 'b']);
    bed.store.onClaim = silence;
    bed.store.onRelease = silence;
    void bed.locks.mutex('c').acquire();
    void other?.release();
    await bed.clock.advance(10_000 / 3 + 1);
    expect(sizes(bed, 'renew')).toEqual([1]);
    expect(lease?.remainingMs).toBeGreaterThan(9_000);
  });

  it('do not stand behind those of longer TTLs', async ({ bed }) => {
    await bed.locks.mutex('slow', { ttl: '30s' }).acquire();
    bed.store.onRenew = ({ resource }) => (resource === 'slow' ? silence() : held());
    await bed.clock.advance(9_500);
    const quick = await bed.locks.mutex('quick', { ttl: 1_000 }).acquire();
    await bed.clock.advance(5_000);
    expect(quick.state).toBe('held');
  });

  it('stop when the last lease is gone', async ({ bed }) => {
    const leases = await acquireAll(bed, names(5));
    for (const lease of leases) void lease.release();
    await bed.clock.advance(30_000);
    expect(sizes(bed, 'renew')).toEqual([]);
    expect(sizes(bed, 'release')).toEqual([5]);
  });

  it('keep no process alive, but a wait does', async ({ bed }) => {
    await acquireAll(bed, ['a']);
    expect(bed.clock.keepingAlive).toBe(0);
    bed.store.onClaim = silence;
    void bed.locks.mutex('b').acquire();
    await bed.clock.rest();
    expect(bed.clock.keepingAlive).toBe(1);
  });
});
