import assert from 'node:assert/strict';
import { StoreError } from '../../../../src/contract/errors.ts';
import type { Claim, Store } from '../../../../src/contract/store.ts';
import type { Case, Topic } from '../../../../src/testkit/case.ts';
import { faultyStore } from '../../../../src/testkit/faulty-store.ts';
import type { Journey } from '../../../../src/testkit/journey.ts';
import type { TestBed } from '../../../../src/testkit/test-bed.ts';
import { later } from './waits.ts';

const REFUSED: StoreError = new StoreError('This part is away.', {
  retryable: true,
  outcome: 'failed',
});

/** A store with one part away, such as a primary of a cluster, while the others reply. */
export const parts: Topic = {
  topic: 'parts',
  cases: [
    away('hangs', { arrives: 'never', answer: 'never' }),
    away('fails', { arrives: 'never', answer: REFUSED }),
  ],
};

function away(how: string, journey: Journey): Case {
  return {
    name: `one part of the store ${how}: the others are answered, and leases there are kept`,
    async run(bed) {
      const { store, lose } = parted(bed, journey);
      // Room for three heartbeats, even under load.
      const locks = bed.locks({ ttl: 3 * bed.ttlMs }, store);
      const doubts: string[] = [];
      locks.on('unconfirmed', ({ resource }) => doubts.push(resource));
      const names = ['here/1', 'away/1', 'here/2'].map((name) => bed.name(name));
      const leases = await Promise.all(names.map((name) => locks.mutex(name).acquire()));
      const [first, gone, second] = leases;
      lose();
      const stuck = later(locks.mutex(bed.name('away/2')).acquire({ wait: 2 * bed.ttlMs }));
      const free = await locks.mutex(bed.name('here/3')).acquire();
      await Promise.all([free.release(), second?.release()]);
      await bed.until('the lease on the part that is away was lost', () => !gone?.held);
      await assert.rejects(stuck, { code: 'ACQUIRE_TIMEOUT' });
      assert.ok(first?.held, 'leases on other parts are kept');
      const others = doubts.filter((name) => name !== bed.name('away/1'));
      assert.deepEqual(others, [], 'leases on other parts are not in doubt');
    },
  };
}

/** The bed's store, split into two parts by name. */
function parted(
  bed: TestBed,
  journey: Journey,
): { readonly store: Store; readonly lose: () => void } {
  const isAway = (resource: string): boolean => resource.startsWith(bed.name('away'));
  const faulty = faultyStore(bed.store, bed.clock);
  const { partOf = () => '' } = bed.store;
  const store = Object.assign(faulty, {
    partOf: (resource: string) => `${isAway(resource) ? 'away' : 'here'} ${partOf(resource)}`,
  });
  const only = ({ resource }: Claim): boolean => isAway(resource);
  const lose = (): void => {
    for (const verb of ['claim', 'renew', 'release'] as const) {
      store.inject({ ...journey, verb, only });
    }
  };
  return { store, lose };
}
