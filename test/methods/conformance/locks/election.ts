import assert from 'node:assert/strict';
import type { Candidate } from '../../../../src/jobs/election/candidate.ts';
import { createElection } from '../../../../src/jobs/election/index.ts';
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
