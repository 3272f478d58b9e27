import assert from 'node:assert/strict';
import type { Candidate } from '../../../../src/jobs/election/candidate.ts';
import { createElection } from '../../../../src/jobs/election/index.ts';
import { check, type Topic } from '../../../../src/testkit/case.ts';

export const election: Topic = {
  topic: 'election',
  needs: ['queue'],
  cases: [
    check('the first candidate leads, the others stand by in order', async (bed) => {
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
    }),
    check('as many lead as there are seats', ['permits'], async (bed) => {
      const election = createElection(bed.locks(), bed.name(), { seats: 2 });
      const candidates = [1, 2, 3, 4].map(() => election.campaign());
      const leading = () => candidates.filter(({ state }) => state === 'leader').length;
      await bed.until('two led', () => leading() === 2);
      await bed.quiet();
      assert.equal(leading(), 2);
      await candidates.find(({ state }) => state === 'leader')?.resign();
      await bed.until('two led again', () => leading() === 2);
    }),
    check(
      'the next standby leads when the leader resigns, with a higher token',
      ['tokens'],
      async (bed) => {
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
    ),
  ],
};
