/** What waits for what: parts of a store for nobody, and requests not long for those before. */
import { describe, expect } from 'vitest';
import type { Bed } from '../support/scripted-store.ts';
import { failure, held, it, setUp, silence, watchOutcome } from '../support/scripted-store.ts';

/** The part of `x/1` is `x`. */
function partedBed(): Bed {
  return setUp({}, { partOf: (resource) => resource.slice(0, resource.indexOf('/')) });
}

function sent(bed: Bed, verb: 'claim' | 'renew' | 'release'): string[] {
  return bed.store.sent(verb).map(({ claims }) => claims.map((each) => each.resource).join(' '));
}

describe('a store with parts', () => {
  it('gets no batch that crosses them', async () => {
    const bed = partedBed();
    const names = ['b/1', 'a/1', 'b/2', 'c/1', 'a/2'];
    const leases = await Promise.all(names.map((name) => bed.locks.mutex(name).acquire()));
    await bed.clock.advance(10_000 / 3);
    await Promise.all(leases.map((lease) => lease.release()));
    for (const verb of ['claim', 'renew', 'release'] as const) {
      expect(sent(bed, verb)).toEqual(['b/1 b/2', 'a/1 a/2', 'c/1']);
    }
  });

  it('of which one hangs holds up nothing on the others', async () => {
    const bed = partedBed();
    bed.store.onClaim = ({ resource }) => (resource === 'a/1' ? silence() : held());
    bed.store.onRenew = ({ resource }) => (resource === 'a/0' ? silence() : held());
    bed.store.onRelease = ({ resource }) => (resource === 'a/2' ? silence() : true);
    const names = ['a/0', 'a/2', 'b/0'];
    const [, , lease] = await Promise.all(names.map((name) => bed.locks.mutex(name).acquire()));
    watchOutcome(bed.locks.mutex('a/1').acquire());
    await bed.clock.rest();
    const others = ['b/1', 'c/1'].map((name) => watchOutcome(bed.locks.mutex(name).acquire()));
    await bed.clock.rest();
    expect(others.map(({ value }) => value?.held)).toEqual([true, true]);
    const released = watchOutcome(others[0]?.value?.release() ?? silence());
    await bed.clock.rest();
    expect(released.done).toBe(true);
    await bed.clock.advance(30_000);
    expect(lease?.held).toBe(true);
  });

  it('that cannot name one hears of it by the verb', async () => {
    const partOf = (): string => {
      throw new Error('no part');
    };
    const bed = setUp({}, { partOf });
    bed.store.onClaim = () => Promise.reject(failure({ retryable: false, outcome: 'failed' }));
    await expect(bed.locks.mutex('a').acquire()).rejects.toMatchObject({ message: 'broken' });
  });
});

describe('an answer that does not come', () => {
  it('holds up a request for a tenth of its own TTL', async ({ bed }) => {
    bed.store.onClaim = ({ resource }) => (resource === 'slow' ? silence() : held());
    void bed.locks.mutex('slow', { ttl: '30s' }).acquire();
    await bed.clock.rest();
    const quick = watchOutcome(bed.locks.mutex('quick', { ttl: 600 }).acquire());
    void bed.locks.mutex('usual').acquire();
    await bed.clock.advance(59);
    expect(sent(bed, 'claim')).toEqual(['slow']);
    await bed.clock.advance(1);
    expect(sent(bed, 'claim')).toEqual(['slow', 'quick usual']);
    expect(quick.value?.held).toBe(true);
    // What is late holds up nobody any more.
    await bed.locks.mutex('next').acquire();
    expect(sent(bed, 'claim').at(-1)).toBe('next');
  });

  it('of a release holds up releases no longer', async ({ bed }) => {
    bed.store.onRelease = ({ resource }) => (resource === 'slow' ? silence() : true);
    const slow = await bed.locks.mutex('slow', { ttl: '30s' }).acquire();
    const quick = await bed.locks.mutex('quick', { ttl: 600 }).acquire();
    void slow.release();
    await bed.clock.rest();
    const released = watchOutcome(quick.release());
    await bed.clock.advance(60);
    expect(released.done).toBe(true);
  });

  it('counts although others have left beside it', async ({ bed }) => {
    bed.store.onClaim = ({ resource }) =>
      resource === 'slow' ? bed.late(2_000, held()) : bed.late(10, held());
    const slow = watchOutcome(bed.locks.mutex('slow').acquire());
    await bed.clock.rest();
    const other = watchOutcome(bed.locks.mutex('other').acquire());
    await bed.clock.advance(1_010);
    expect([other.value?.held, slow.done]).toEqual([true, false]);
    await bed.clock.advance(990);
    expect(slow.value?.held).toBe(true);
  });

  it('leaves four batches under way at most, when none is answered', async ({ bed }) => {
    let under = 0;
    let most = 0;
    bed.store.onClaim = () => {
      most = Math.max(most, ++under);
      return bed.late(10_000 / 3, held()).finally(() => under--);
    };
    for (let i = 0; i < 20; i++) {
      void bed.locks.mutex(`${i}`).acquire();
      await bed.clock.advance(1_000);
    }
    expect(most).toBe(4);
  });

  it('is waited for by requests of the same claim', async ({ bed }) => {
    const lease = await bed.locks.mutex('a').acquire();
    bed.store.onRenew = silence;
    await bed.clock.advance(10_000 / 3);
    const renewed = watchOutcome(lease.renew());
    await bed.clock.advance(3_000);
    expect(sent(bed, 'renew')).toEqual(['a']);
    bed.store.onRenew = () => held();
    await bed.clock.advance(500);
    expect(renewed.done).toBe(true);
  });

  it('of one claim holds up only that claim, also when nothing else is to be sent', async () => {
    const bed = setUp();
    const lease = await bed.locks.mutex('a').acquire();
    bed.store.onRenew = ({ resource }) => (resource === 'a' ? silence() : held());
    await bed.clock.advance(10_000 / 3);
    const renewed = watchOutcome(lease.renew());
    const other = await bed.locks.mutex('b').acquire();
    await bed.clock.advance(1_500);
    const second = watchOutcome(other.renew());
    await bed.clock.rest();
    expect([renewed.done, second.done]).toEqual([false, true]);
  });
});
