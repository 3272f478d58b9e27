import assert from 'node:assert/strict';
import type { Candidate } from '../../../../src/jobs/election/candidate.ts';
import { createElection } from '../../../../src/jobs/election/election.ts';
import { evict } from '../../../../src/operators/evict.ts';
import type { Topic } from '../../../../src/testkit/case.ts';

export const election: Topic = {
  topic: 'election',
  needs: ['queue'],
  cases: [
    {
      name: 'the first candidate leads, the others stand by in order',
      async run(bed) {
        const election = createElection(bed.locks(), bed.name());
        const labels = ['first', 'second', 'third'];
        const candidates: Candidate[] = [];
        for (const label of labels) {
          candidates.push(election.campaign({ label }));
          await bed.until('it stood', async () => {
            const { leaders, standbys } = await election.standings();
            return leaders.length + standbys.length === candidates.length;
          });
        }
        await bed.until('one led', () => candidates[0]?.state === 'leader');
        assert.deepEqual(
          candidates.map(({ state }) => state),
          ['leader', 'standby', 'standby'],
        );
        const { leaders, standbys } = await election.standings();
        assert.deepEqual(
          [...leaders, ...standbys].map(({ holder }) => holder.label),
          labels,
        );
      },
    },
    {
      name: 'as many lead as there are seats',
      needs: ['permits'],
      async run(bed) {
        const election = createElection(bed.locks(), bed.name(), { seats: 2 });
        const candidates = [1, 2, 3, 4].map(() => election.campaign());
        const leading = () => candidates.filter(({ state }) => state === 'leader').length;
        await bed.until('two led', () => leading() === 2);
        await bed.quiet();
        assert.equal(leading(), 2);
        await candidates.find(({ state }) => state === 'leader')?.resign();
        await bed.until('two led again', () => leading() === 2);
      },
    },
    {
      name: 'the next standby leads when the leader resigns, with a higher token',
      needs: ['tokens'],
      async run(bed) {
        const [one, other] = [bed.locks(), bed.locks({}, await bed.connect())];
        const first = createElection(one, bed.name()).campaign();
        await bed.until('it led', () => first.state === 'leader');
        const second = createElection(other, bed.name()).campaign();
        const { token = 0n } = first.lease ?? {};
        await first.resign();
        assert.deepEqual([first.state, first.lease], ['resigned', undefined]);
        await bed.until('the next led', () => second.state === 'leader');
        assert.ok((second.lease?.token ?? 0n) > token);
        await first.resign();
        assert.equal(second.state, 'leader');
      },
    },
    {
      name: 'a standby that resigns leaves the queue',
      async run(bed) {
        const election = createElection(bed.locks(), bed.name());
        const leader = election.campaign();
        await bed.until('it led', () => leader.state === 'leader');
        const standby = election.campaign();
        await bed.until('it stood by', async () => (await bed.look()).waiters.length === 1);
        await standby.resign();
        assert.equal(standby.state, 'resigned');
        await bed.until('it had left', async () => (await bed.look()).waiters.length === 0);
        assert.equal(leader.state, 'leader');
      },
    },
    {
      name: 'a leader that loses its seat stands again',
      needs: ['evict', 'tokens'],
      async run(bed) {
        const locks = bed.locks();
        const election = createElection(locks, bed.name());
        const candidate = election.campaign();
        await bed.until('it led', () => candidate.state === 'leader');
        const { token = 0n, signal } = candidate.lease ?? assert.fail();
        await evict(locks, bed.name(), { token, reason: 'test', now: true });
        await bed.until('it led again', () => (candidate.lease?.token ?? 0n) > token);
        assert.ok(signal.aborted);
      },
    },
    {
      name: 'a leader that loses its seat stands again when the body of its loop is done',
      needs: ['evict', 'tokens'],
      async run(bed) {
        const locks = bed.locks();
        const election = createElection(locks, bed.name());
        const candidate = election.campaign();
        let finish = (): void => {};
        const tokens: bigint[] = [];
        const lead = async (): Promise<void> => {
          for await (const { lease } of candidate) {
            tokens.push(lease.token);
            if (tokens.length === 2) break;
            // Ignores its signal.
            await new Promise<void>((resolve) => (finish = resolve));
          }
        };
        const leading = bed.later(lead());
        await bed.until('it led', () => tokens.length === 1);
        const [token = 0n] = tokens;
        await evict(locks, bed.name(), { token, reason: 'test', now: true });
        await bed.until('it had lost', () => candidate.state === 'standby');
        const next = election.campaign();
        await bed.until('the next led', () => next.state === 'leader');
        await bed.quiet();
        assert.deepEqual((await election.standings()).standbys, []);
        await next.resign();
        finish();
        await leading;
        assert.ok((tokens[1] ?? 0n) > token);
      },
    },
    {
      name: 'terms come one after the other until the loop is left',
      needs: ['tokens'],
      async run(bed) {
        const candidate = createElection(bed.locks(), bed.name()).campaign();
        const tokens: bigint[] = [];
        for await (const { lease, signal } of candidate) {
          assert.deepEqual([lease.held, signal.aborted], [true, false]);
          tokens.push(lease.token);
          if (tokens.length === 3) break;
        }
        assert.equal(candidate.state, 'resigned');
        for (const [i, token] of tokens.entries()) assert.ok(token > (tokens[i - 1] ?? 0n));
        assert.equal((await bed.look()).holders.length, 0);
      },
    },
    {
      name: 'a term ends when its leader resigns, and with it the loop',
      async run(bed) {
        const candidate = createElection(bed.locks(), bed.name()).campaign();
        let terms = 0;
        for await (const { signal } of candidate) {
          terms++;
          const ended = new Promise((resolve) => signal.addEventListener('abort', resolve));
          await Promise.all([candidate.resign(), ended]);
        }
        assert.equal(terms, 1);
      },
    },
    {
      name: 'the end of a block resigns',
      async run(bed) {
        const election = createElection(bed.locks(), bed.name());
        {
          await using candidate = election.campaign();
          await bed.until('it led', () => candidate.state === 'leader');
        }
        assert.equal((await bed.look()).holders.length, 0);
      },
    },
    {
      name: 'an aborted signal resigns',
      async run(bed) {
        const aborter = new AbortController();
        const candidate = createElection(bed.locks(), bed.name()).campaign({
          signal: aborter.signal,
        });
        await bed.until('it led', () => candidate.state === 'leader');
        aborter.abort();
        assert.equal(candidate.state, 'resigned');
        await bed.until('the seat was free', async () => (await bed.look()).holders.length === 0);
        const late = createElection(bed.locks(), bed.name()).campaign({ signal: aborter.signal });
        assert.equal(late.state, 'resigned');
      },
    },
    {
      name: 'observers see who leads, and what has changed',
      async run(bed) {
        const locks = bed.locks();
        const election = createElection(locks, bed.name());
        const aborter = new AbortController();
        const seen: string[] = [];
        const observing = (async () => {
          const news = election.observe({ every: 20, signal: aborter.signal });
          for await (const { leaders, standbys, missed } of news) {
            assert.equal(missed, seen.length > 0);
            seen.push(`${leaders.length}+${standbys.length}`);
          }
        })();
        await bed.until('no leader was seen', () => seen.at(-1) === '0+0');
        const first = election.campaign();
        await bed.until('a leader was seen', () => seen.at(-1) === '1+0');
        const second = election.campaign();
        await bed.until('a standby was seen', () => seen.at(-1) === '1+1');
        await first.resign();
        await bed.until('the change was seen', () => seen.at(-1) === '1+0');
        await second.resign();
        await bed.until('no leader was seen', () => seen.at(-1) === '0+0');
        aborter.abort();
        await observing;
      },
    },
    {
      name: 'closing the locks ends campaigns',
      async run(bed) {
        const locks = bed.locks({}, await bed.connect());
        const candidate = createElection(locks, bed.name()).campaign();
        await bed.until('it led', () => candidate.state === 'leader');
        await locks.close();
        assert.equal(candidate.state, 'resigned');
        assert.equal((await bed.look()).holders.length, 0);
        await assert.rejects(candidate[Symbol.asyncIterator]().next(), { code: 'CLOSED' });
      },
    },
    {
      name: 'a candidate for another kind of lock is told',
      async run(bed) {
        const locks = bed.locks();
        await locks.mutex(bed.name()).acquire();
        const candidate = createElection(locks, bed.name()).campaign();
        const terms = candidate[Symbol.asyncIterator]();
        await assert.rejects(terms.next(), { code: 'MISMATCH' });
        assert.equal(candidate.state, 'resigned');
      },
    },
  ],
};
