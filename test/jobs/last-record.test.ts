import { StoreError } from 'holdfast';
import { once } from 'holdfast/once';
import type { Claim } from 'holdfast/store';
import { describe, expect, it } from 'vitest';
import { watchOutcome } from '../support/scripted-store.ts';
import { type Bed, lost, setUp } from './bed.ts';

const DAY = { keepFor: '1d' } as const;

interface Request {
  readonly verb: string;
  readonly claims: readonly Claim[];
}

describe.each([
  ['with the release', true],
  ['before the release', false],
])('the record of done work, %s', (_, keepsOnRelease) => {
  const isLast = ({ verb, claims }: Request): boolean =>
    keepsOnRelease ? claims.some(({ record }) => record) : verb === 'keep';

  function bedOf({ synchronous = true } = {}): Bed {
    return setUp({ synchronous, keepsOnRelease });
  }

  it('is refused, and the call says that the work is done; the key is free', async () => {
    const bed = bedOf();
    const full = { retryable: false, outcome: 'failed' } as const;
    bed.around = (request, next) => {
      return isLast(request) ? Promise.reject(new StoreError('no room', full)) : next();
    };
    const refused = once(bed.locks, 'a', DAY, () => 1);
    await expect(refused).rejects.toMatchObject({
      ...{ code: 'STORE', ...full, resource: 'once:a' },
      message: 'The work is done, but may not be on record: no room',
    });
    const next = await once(bed.other, 'a', { ...DAY, ifRunning: 'skip' }, () => 'next');
    expect(next).toEqual({ state: 'ran', value: 'next' });
  });

  it('is not written when another has done the work meanwhile', async () => {
    const bed = bedOf();
    const { clock, locks, other } = bed;
    let second: unknown;
    bed.around = async (request, next) => {
      if (isLast(request)) {
        // The request is on its way for longer than the claim lives.
        clock.stall(60_000);
        second = await once(other, 'a', DAY, () => 'second');
      }
      return next();
    };
    const first = watchOutcome(once(locks, 'a', DAY, () => 'first'));
    await clock.advance(1_000);
    expect(second).toEqual({ state: 'ran', value: 'second' });
    expect(first.error).toMatchObject({ code: 'LEASE_LOST' });
  });

  it('is there although its reply was lost, and its caller learns so', async () => {
    const bed = bedOf({ synchronous: false });
    const { clock, locks } = bed;
    let sent = 0;
    bed.around = async (request, next) => {
      const answer = await next();
      if (isLast(request) && ++sent < 3) throw lost();
      return answer;
    };
    const ran = watchOutcome(once(locks, 'a', DAY, () => 1));
    await clock.advance(500);
    expect(ran.value).toEqual({ state: 'ran', value: 1 });
    expect(sent).toBe(3);
  });

  it('is written once the store is back', async () => {
    const bed = bedOf({ synchronous: false });
    const { clock, locks, other } = bed;
    let sent = 0;
    bed.around = (request, next) => {
      return isLast(request) && ++sent < 4 ? Promise.reject(lost()) : next();
    };
    const ran = watchOutcome(once(locks, 'a', DAY, () => 1));
    await clock.advance(1_000);
    expect(ran.value).toEqual({ state: 'ran', value: 1 });
    expect(await once(other, 'a', DAY, () => 2)).toMatchObject({ state: 'done' });
  });

  it('counts, whatever becomes of the lease after it', async () => {
    const bed = bedOf({ synchronous: false });
    const { clock, locks } = bed;
    bed.around = async (request, next) => {
      const answer = await next();
      if (isLast(request)) clock.stall(60_000);
      return answer;
    };
    const ran = watchOutcome(once(locks, 'a', DAY, () => 1));
    await clock.advance(1_000);
    expect(ran.value).toEqual({ state: 'ran', value: 1 });
  });

  it('may not be there: the call says so, with the reason', async () => {
    const bed = bedOf({ synchronous: false });
    const { clock, locks } = bed;
    bed.around = (request, next) => {
      return isLast(request) || request.verb === 'renew' ? Promise.reject(lost()) : next();
    };
    const ran = watchOutcome(once(locks, 'a', DAY, () => 1));
    await clock.advance(11_000);
    expect(ran.error).toMatchObject({
      ...{ code: 'LEASE_LOST', cause: { code: 'STORE' } },
      message: expect.stringContaining('the work is done, but may not be on record'),
    });
  });
});

describe('a store that keeps a record with a release', () => {
  it('is asked four times for a new key', async () => {
    const bed = setUp();
    const verbs: string[] = [];
    bed.around = ({ verb }, next) => {
      if (verb !== 'watch') verbs.push(verb);
      return next();
    };
    await once(bed.locks, 'a', DAY, () => 1);
    expect(verbs).toEqual(['recall', 'claim', 'recall', 'release']);
  });

  it('may get a copy of the release, and says no to the second', async () => {
    const bed = setUp();
    bed.around = async ({ verb }, next) => {
      if (verb === 'release') await next();
      return next();
    };
    expect(await once(bed.locks, 'a', DAY, () => 1)).toEqual({ state: 'ran', value: 1 });
  });

  it('lets the next waiter of the same process in by a claim of its own', async () => {
    const { locks } = setUp();
    let runs = 0;
    const asked = [1, 2, 3].map(() => once(locks, 'a', DAY, () => ++runs));
    const states = (await Promise.all(asked)).map(({ state }) => state);
    expect(states).toEqual(['ran', 'done', 'done']);
  });
});
