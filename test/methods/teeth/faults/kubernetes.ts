import { type Faults, inTest } from '../fault.ts';

const sharedLease = { file: 'src/stores/kubernetes/shared-lease.ts' };

const SHARED_LEASE = 'test/stores/kubernetes/units/shared-lease.test.ts';
const OURS = [SHARED_LEASE, 'a lease of ours'] as const;
const OF_ANOTHER = [SHARED_LEASE, 'a lease of another'] as const;

const TWO = 'a leader in Go and a program of ours hold the same lease';

/** Leases that client-go shares. */
export const KUBERNETES_FAULTS: Faults = {
  'kubernetes: two renewals within a second look the same to client-go': {
    file: 'src/stores/kubernetes/lock-record.ts',
    find: 'const renewTime = timeOf(Math.max(now, least));',
    replace: 'const renewTime = timeOf(now || least);',
    why: TWO,
    by: inTest(...OURS, 'is dated in another second by each renewal'),
  },
  'kubernetes: a lease ends by the time that its holder wrote': {
    ...sharedLease,
    find: 'return since + leaseDurationSeconds * 1000 - now;',
    replace: `const renewedAt = Date.parse(lease?.spec?.renewTime ?? '');
    return renewedAt + leaseDurationSeconds * 1000 - this.#parts.wallMs();`,
    why: TWO,
    by: inTest(...OF_ANOTHER, 'is watched for its duration, dated from long ago'),
  },
  'kubernetes: a renewal that was seen is not counted from': {
    ...sharedLease,
    find: 'this.#seen?.record === record ? this.#seen.since : this.#parts.clock.now();',
    replace: 'this.#seen?.since ?? this.#parts.clock.now();',
    why: TWO,
    by: inTest(...OF_ANOTHER, 'is watched anew from each renewal, however it is dated'),
  },
  'kubernetes: a late copy of a released claim finds the lease as it was': {
    ...sharedLease,
    find: ': this.#leftMs(lease) <= 0;',
    replace: ': this.#leftMs(lease) < 0;',
    why: 'a lease is held by no program until it ends',
    by: inTest(
      SHARED_LEASE,
      'a claim without a reply',
      'that comes after its release finds another version',
    ),
  },
  'kubernetes: a late renewal of a released claim takes the lease back': {
    ...sharedLease,
    find: 'granted ? !lossIn(lease, hold) :',
    replace: 'granted ? false :',
    why: 'a lease is held by no program until it ends',
    by: inTest(...OURS, 'that is taken back by a late renewal is not held after its release'),
  },
  'kubernetes: a hold goes on although another had the lease meanwhile': {
    ...sharedLease,
    find: "holderIdentity === '' && transitionsOf(lease) === hold.transitions",
    replace: "holderIdentity === ''",
    why: 'a holder does not learn that another has worked in its time',
    by: inTest(...OURS, 'that another has ended, and a third had since, is lost'),
  },
  'kubernetes: a hold is renewed after its end': {
    ...sharedLease,
    find: 'if (hold.until <= sentAt) return EXPIRED;',
    replace: '',
    why: TWO,
    by: inTest(...OURS, 'is not renewed once its time is over, though no other has taken it'),
  },
};
