import { getEventListeners } from 'node:events';
import type { Candidate, Term } from 'holdfast/election';
import { createElection } from 'holdfast/election';
import { describe, expect } from 'vitest';
import { collect } from '../support/garbage.ts';
import type { Bed } from '../support/scripted-store.ts';
import { failure, held, it, setUp, waiting, watchOutcome } from '../support/scripted-store.ts';

/** Leads term by term, each for this long; collects what it sees. */
function lead(
  bed: Bed,
  candidate: Candidate,
  ms: number,
): { terms: Term[]; error?: unknown; done: boolean } {
  const seen: { terms: Term[]; error?: unknown; done: boolean } = { terms: [], done: false };
  const loop = async (): Promise<void> => {
    for await (const term of candidate) {
      seen.terms.push(term);
      await new Promise<void>((resolve) => bed.clock.setTimeout(resolve, ms));
    }
  };
  loop()
    .catch((error: unknown) => (seen.error = error))
    .finally(() => (seen.done = true));
  return seen;
}

describe('a candidate', () => {
  it('stands by until it is elected: a claim of one of the seats', async ({ bed }) => {
    bed.store.onClaim = bed.store.onRenew = () => waiting();
    const candidate = createElection(bed.locks, 'e', { seats: 2 }).campaign({ label: 'worker 1' });
    await bed.clock.rest();
    expect([candidate.state, candidate.lease]).toEqual(['standby', undefined]);
    expect(bed.store.entered[0]).toMatchObject({ kind: 'permits', permits: 1, limit: 2 });
    expect(bed.store.entered[0]?.holder).toMatchObject({ label: 'worker 1', mark: 'candidate' });
    bed.store.onRenew = () => held();
    await bed.clock.advance(3_400);
    expect([candidate.state, candidate.lease?.held]).toEqual(['leader', true]);
  });

  it('leaves no listener on a signal that it shares, whatever garbage is collected', async () => {
    const { locks, clock } = setUp();
    const { signal } = new AbortController();
    const candidates = ['e', 'f'].map((name) => createElection(locks, name).campaign({ signal }));
    await clock.rest();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    collect();
    for (const candidate of candidates) void candidate.resign();
    await clock.rest();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('leads term by term: the seat is given up after each, and it stands again', async () => {
    const bed = setUp();
    const candidate = createElection(bed.locks, 'e').campaign();
    const { terms } = lead(bed, candidate, 1_000);
    await bed.clock.advance(3_500);
    expect(terms).toHaveLength(4);
    expect(new Set(bed.store.entered.map(({ id }) => id)).size).toBe(4);
    expect(bed.store.sent('release')).toHaveLength(3);
    const tokens = terms.map(({ lease }) => lease.token);
    expect(tokens).toEqual([...tokens].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('stands again when a term was lost, and the signal of the term says why', async ({ bed }) => {
    const { terms } = lead(bed, createElection(bed.locks, 'e').campaign(), 5_000);
    await bed.clock.rest();
    bed.store.onRenew = () => ({ state: 'gone', why: 'evicted' });
    await bed.clock.advance(3_400);
    expect(terms[0]?.signal.reason).toMatchObject({ code: 'LEASE_LOST', reason: 'evicted' });
    bed.store.onRenew = () => held();
    await bed.clock.advance(2_000);
    expect(terms[1]?.signal.aborted).toBe(false);
    expect(bed.store.entered).toHaveLength(2);
  });

  it('gives a lost seat back when its body is done, so that nobody begins beside it', async () => {
    const bed = setUp();
    const seen = lead(bed, createElection(bed.locks, 'e', { maxHold: '2s' }).campaign(), 5_000);
    await bed.clock.advance(4_900);
    expect(seen.terms[0]?.signal.reason).toMatchObject({ reason: 'max-hold' });
    expect(bed.store.sent('release')).toHaveLength(0);
    await bed.clock.advance(200);
    expect(bed.store.sent('release')).toHaveLength(1);
  });

  it('stands again for a lost seat only when its body is done', async ({ bed }) => {
    const candidate = createElection(bed.locks, 'e', { maxHold: '2s' }).campaign();
    const { terms } = lead(bed, candidate, 60_000);
    await bed.clock.advance(59_000);
    expect(terms[0]?.signal.reason).toMatchObject({ reason: 'max-hold' });
    expect([candidate.state, bed.store.entered.length]).toEqual(['standby', 1]);
    await bed.clock.advance(1_100);
    expect([candidate.state, terms.length, bed.store.entered.length]).toEqual(['leader', 2, 2]);
  });

  it('with a body that hangs in a lost term resigns, and so does closing the locks', async () => {
    // The last one closes while the term is held.
    const ways = [
      ['resign', 3_000],
      ['close', 3_000],
      ['close', 1_000],
    ] as const;
    for (const [way, afterMs] of ways) {
      const bed = setUp();
      const candidate = createElection(bed.locks, 'e', { maxHold: '2s' }).campaign();
      lead(bed, candidate, 60_000);
      await bed.clock.advance(afterMs);
      const over = watchOutcome(way === 'resign' ? candidate.resign() : bed.locks.close());
      await bed.clock.advance(3_000 - afterMs);
      expect([candidate.state, over.done], `${way}, ${afterMs}`).toEqual(['resigned', true]);
    }
  });

  it('gives back a lost seat and stands no more, when its body throws', async ({ bed }) => {
    const candidate = createElection(bed.locks, 'e', { seats: 2, maxHold: '2s' }).campaign();
    const loop = (async () => {
      for await (const _ of candidate) {
        await new Promise<void>((resolve) => bed.clock.setTimeout(resolve, 3_000));
        throw new Error('enough');
      }
    })();
    const left = watchOutcome(loop);
    await bed.clock.advance(3_500);
    expect(left.error).toMatchObject({ message: 'enough' });
    expect(new Set(bed.store.entered.map(({ id }) => id)).size).toBe(1);
    expect(bed.store.sent('release')).toHaveLength(1);
  });

  it('that leaves the loop has resigned', async ({ bed }) => {
    const candidate = createElection(bed.locks, 'e').campaign();
    const loop = (async () => {
      for await (const _ of candidate) break;
    })();
    await bed.clock.rest();
    await loop;
    expect(candidate.state).toBe('resigned');
    await bed.clock.advance(60_000);
    expect(bed.store.calls.map(({ verb }) => verb)).toEqual(['claim', 'release']);
    expect(bed.clock.keepingAlive).toBe(0);
  });

  for (const way of ['resign', 'dispose', 'signal'] as const) {
    it(`gives its seat up at once and for good by ${way}, and the term hears of it`, async () => {
      const bed = setUp();
      const aborter = new AbortController();
      const candidate = createElection(bed.locks, 'e').campaign({ signal: aborter.signal });
      const seen = lead(bed, candidate, 5_000);
      await bed.clock.rest();
      const { resign } = candidate;
      if (way === 'resign') void resign();
      else if (way === 'signal') aborter.abort('enough');
      else void candidate[Symbol.asyncDispose]();
      await bed.clock.rest();
      expect([candidate.state, seen.terms[0]?.signal.aborted]).toEqual(['resigned', true]);
      expect(bed.store.sent('release')).toHaveLength(1);
      await bed.clock.advance(60_000);
      expect([seen.done, seen.error, seen.terms.length]).toEqual([true, undefined, 1]);
      expect(bed.store.entered).toHaveLength(1);
    });
  }

  it('that resigns while it stands by leaves the queue', async ({ bed }) => {
    bed.store.onClaim = bed.store.onRenew = () => waiting();
    const candidate = createElection(bed.locks, 'e').campaign();
    const seen = lead(bed, candidate, 1);
    await bed.clock.advance(1_000);
    const resigned = watchOutcome(candidate.resign());
    await bed.clock.rest();
    expect([resigned.done, seen.done, candidate.state]).toEqual([true, true, 'resigned']);
    expect(bed.store.sent('release')).toHaveLength(1);
    // A loop that begins later finds no terms, and no error.
    const later = lead(bed, candidate, 1);
    await bed.clock.rest();
    expect([later.done, later.error]).toEqual([true, undefined]);
  });

  it('that resigns just when it is elected keeps no seat', async () => {
    for (let delay = 0; delay < 40; delay++) {
      const bed = setUp();
      const candidate = createElection(bed.locks, 'e').campaign();
      for (let i = 0; i < delay; i++) await undefined;
      const resigned = watchOutcome(candidate.resign());
      await bed.clock.advance(1_000);
      expect([resigned.done, candidate.state], `after ${delay} microtasks`).toEqual([
        ...[true, 'resigned'],
      ]);
      const left = bed.store.sent('release').flatMap(({ claims }) => claims.map(({ id }) => id));
      expect(left).toEqual(expect.arrayContaining(bed.store.entered.map(({ id }) => id)));
    }
  });

  it('whose signal is aborted already never stands', async ({ bed }) => {
    const candidate = createElection(bed.locks, 'e').campaign({ signal: AbortSignal.abort() });
    const seen = lead(bed, candidate, 1);
    await bed.clock.advance(1_000);
    expect([candidate.state, seen.done, seen.error]).toEqual(['resigned', true, undefined]);
    expect(bed.store.calls).toHaveLength(0);
  });

  it('stands again after the store has failed', async ({ bed }) => {
    bed.store.onClaim = () => Promise.reject(failure());
    const candidate = createElection(bed.locks, 'e').campaign();
    await bed.clock.advance(25_000);
    expect(candidate.state).toBe('standby');
    bed.store.onClaim = () => held();
    await bed.clock.advance(5_000);
    expect(candidate.state).toBe('leader');
  });

  for (const [why, code] of [
    ['mismatch', 'MISMATCH'],
    ['full', 'QUEUE_FULL'],
  ] as const) {
    it(`that can never be elected tells whoever listens: ${code}`, async ({ bed }) => {
      bed.store.onClaim = () => ({ state: 'gone', why, detail: 'odd' });
      const candidate = createElection(bed.locks, 'e').campaign();
      const seen = lead(bed, candidate, 1);
      await bed.clock.advance(1_000);
      expect(seen.error).toMatchObject({ code });
      expect([candidate.state, bed.store.entered.length]).toEqual(['resigned', 1]);
    });
  }

  it('waits without end, whatever the default wait is', async () => {
    const bed = setUp({}, { wait: '1s' });
    bed.store.onClaim = bed.store.onRenew = () => waiting();
    const candidate = createElection(bed.locks, 'e').campaign();
    await bed.clock.advance(60_000);
    expect([candidate.state, bed.store.entered.length]).toEqual(['standby', 1]);
  });
});

describe('closing the locks', () => {
  it('gives up at once a seat that no loop uses', async ({ bed }) => {
    const candidate = createElection(bed.locks, 'e').campaign();
    await bed.clock.rest();
    expect(candidate.state).toBe('leader');
    const closed = watchOutcome(bed.locks.close());
    await bed.clock.rest();
    expect([candidate.state, closed.done]).toEqual(['resigned', true]);
    expect(bed.store.sent('release')).toHaveLength(1);
  });

  it('ends campaigns with ClosedError; whoever leads may finish its term', async ({ bed }) => {
    bed.store.onClaim = (claim) =>
      claim.resource === 'lead' ? held({ token: bed.store.next() }) : waiting();
    const leader = lead(bed, createElection(bed.locks, 'lead').campaign(), 3_000);
    const standby = lead(bed, createElection(bed.locks, 'stand').campaign(), 3_000);
    await bed.clock.advance(1_000);
    const closed = watchOutcome(bed.locks.close());
    await bed.clock.rest();
    expect(standby.error).toMatchObject({ code: 'CLOSED' });
    expect([leader.done, leader.terms[0]?.signal.aborted]).toEqual([false, false]);
    await bed.clock.advance(2_000);
    expect(leader.error).toMatchObject({ code: 'CLOSED' });
    expect([leader.terms.length, closed.done]).toEqual([1, true]);
    expect(bed.store.sent('release')).toHaveLength(2);
  });
});
