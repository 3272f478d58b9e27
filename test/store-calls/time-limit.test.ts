import type { ClaimStatus } from 'holdfast/store';
import { describe, expect, it } from 'vitest';
import type { Bed } from '../support/scripted-store.ts';
import { failure, held, setUp, silence, watchOutcome } from '../support/scripted-store.ts';

/** Each request fails after 3.3 s: a third of the TTL. */
const LIMIT_MS = 4_000;

/** A reply to a release would be a success. */
function silentBed(): Bed {
  const bed = setUp();
  bed.store.onRelease = silence;
  return bed;
}

/** What becomes of a try. */
async function tried({ locks, clock }: Bed): Promise<unknown> {
  const outcome = watchOutcome(locks.mutex('a').tryAcquire());
  await clock.advance(LIMIT_MS);
  return outcome.error;
}

const PLAIN = { message: 'The store did not answer within 3333 ms.', outcome: 'unknown' };
const NAMED = {
  message: 'The store did not answer within 3333 ms; before that: broken',
  outcome: 'unknown',
  cause: failure(),
};

describe('a request that runs out', () => {
  it('names the failure before it, until one succeeds', async () => {
    const bed = silentBed();
    bed.store.onClaim = silence;
    expect(await tried(bed)).toMatchObject(PLAIN);
    bed.store.onClaim = () => Promise.reject(failure());
    await tried(bed);
    bed.store.onClaim = silence;
    expect(await tried(bed)).toMatchObject(NAMED);
    bed.store.onClaim = () => held();
    await tried(bed);
    bed.store.onClaim = silence;
    const other = watchOutcome(bed.locks.mutex('b').tryAcquire());
    await bed.clock.advance(LIMIT_MS);
    expect(other.error).toMatchObject(PLAIN);
  });

  it('names the first reason of a chain, not each', async () => {
    const bed = silentBed();
    const chain = 'late; before that: later; before that: broken';
    bed.store.onClaim = () => Promise.reject(Object.assign(failure(), { message: chain }));
    await tried(bed);
    bed.store.onClaim = silence;
    expect(await tried(bed)).toMatchObject({ message: NAMED.message });
  });

  it('names one that came too late for its own request, and one of a single claim', async () => {
    for (const fails of [
      (bed: Bed) => bed.late(LIMIT_MS - 100, 0).then(() => Promise.reject(failure())),
      (bed: Bed) => bed.late<ClaimStatus>(LIMIT_MS - 100, { state: 'error', error: failure() }),
    ]) {
      const bed = silentBed();
      bed.store.onClaim = () => fails(bed);
      expect(await tried(bed)).toMatchObject(PLAIN);
      bed.store.onClaim = silence;
      expect(await tried(bed)).toMatchObject(NAMED);
    }
  });

  it('names it whichever verb has failed', async () => {
    const bed = silentBed();
    bed.store.onClaim = () => Promise.reject(failure());
    await tried(bed);
    bed.store.onInspect = silence;
    const outcome = watchOutcome(bed.locks.inspect('a'));
    await bed.clock.advance(LIMIT_MS);
    expect(outcome.error).toMatchObject(NAMED);
  });
});
