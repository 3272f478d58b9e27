/** The rules of a shared lease, on a shelf of leases, with all clocks in the hands of the test. */
import { type SimulatedClock, simulatedClock } from 'holdfast/testkit';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Claim } from '../../../../src/contract/store.ts';
import type { LeaseObject, LeaseSpec } from '../../../../src/stores/kubernetes/lease.ts';
import { identityOf, lockName } from '../../../../src/stores/kubernetes/lock-record.ts';
import { SharedLease } from '../../../../src/stores/kubernetes/shared-lease.ts';
import { OwnTombstones } from '../../../../src/stores/own-tombstones.ts';
import { claimOf as anyClaim } from '../../../methods/faults/bed.ts';
import { gate } from '../../../support/gate.ts';

const LEASE_MS = 2000;
/** Of the wall clock of this process. */
const TODAY = Date.parse('2026-01-01T00:00:00Z');

/** One lease as an API server keeps it: written only onto the version that is there. */
class Shelf {
  lease: LeaseObject | undefined;
  /** The next look is answered when this is over, as things were before. */
  meanwhile: (() => Promise<unknown>) | undefined;
  /** What is done instead of a reply, once. */
  instead: (() => never) | undefined;
  versions = 0;

  async find(): Promise<LeaseObject | undefined> {
    const { lease, meanwhile } = this;
    this.meanwhile = undefined;
    await meanwhile?.();
    return lease;
  }

  async write(
    _name: string,
    spec: LeaseSpec,
    onto: LeaseObject | undefined,
  ): Promise<LeaseObject | 'other'> {
    const { instead } = this;
    this.instead = undefined;
    if (instead) instead();
    const named = onto?.metadata.resourceVersion;
    if (named !== this.lease?.metadata.resourceVersion) return 'other';
    return this.put(spec);
  }

  /** As another program writes it. */
  put(spec: LeaseSpec): LeaseObject {
    this.lease = { metadata: { uid: '1', resourceVersion: String(++this.versions) }, spec };
    return this.lease;
  }
}

/** As a program in Go with another wall clock would write it. */
const theirs = (renewTime = '2026-01-01T00:00:00.000000Z'): LeaseSpec => ({
  ...{ holderIdentity: 'go', leaseDurationSeconds: LEASE_MS / 1000, leaseTransitions: 7 },
  ...{ acquireTime: '2026-01-01T00:00:00.000000Z', renewTime },
});

const FREE: LeaseSpec = { ...theirs(), holderIdentity: '' };

let clock: SimulatedClock;
let shelf: Shelf;
let ours: SharedLease;
beforeEach(() => {
  clock = simulatedClock();
  shelf = new Shelf();
  ours = open();
});

function open(): SharedLease {
  const released = new OwnTombstones(clock);
  const wallMs = (): number => TODAY + clock.now();
  return new SharedLease('lock', { leases: shelf, released, clock, wallMs, retryMs: 100 });
}

const claimOf = (): Claim => anyClaim('lock', { ttlMs: LEASE_MS });

const stateOf = async (claim: Claim): Promise<string> => (await ours.claim(claim)).state;

/** A claim of ours that has the lease. */
async function held(): Promise<Claim> {
  const claim = claimOf();
  expect(await stateOf(claim)).toBe('held');
  return claim;
}

const lost = (): never => {
  throw new Error('the connection broke');
};

describe('a lease of another', () => {
  it.each([
    ['from long ago', '2020-01-01T00:00:00.000000Z'],
    ['from the future', '2036-01-01T00:00:00.000000Z'],
  ])('is watched for its duration, dated %s', async (_, renewTime) => {
    shelf.put(theirs(renewTime));
    const claim = claimOf();
    expect(await stateOf(claim)).toBe('waiting');
    await clock.sleep(LEASE_MS - 1);
    expect(await stateOf(claim)).toBe('waiting');
    await clock.sleep(1);
    expect(await stateOf(claim)).toBe('held');
    expect(shelf.lease?.spec).toMatchObject({ leaseTransitions: 8 });
  });

  it('is watched anew from each renewal, however it is dated', async () => {
    const claim = claimOf();
    for (const second of ['05', '03', '04']) {
      shelf.put(theirs(`2026-01-01T00:00:${second}.000000Z`));
      expect(await stateOf(claim)).toBe('waiting');
      await clock.sleep(LEASE_MS - 1);
    }
    expect(await stateOf(claim)).toBe('waiting');
  });

  it('is not watched anew when people change the rest of the object', async () => {
    const claim = claimOf();
    shelf.put(theirs('2026-01-01T00:00:05.000000Z'));
    expect(await stateOf(claim)).toBe('waiting');
    await clock.sleep(LEASE_MS);
    shelf.put(shelf.lease?.spec ?? {});
    expect(await stateOf(claim)).toBe('held');
  });

  it('counts for as long as it says itself', async () => {
    shelf.put({ ...theirs(), leaseDurationSeconds: 30 });
    const claim = claimOf();
    expect(await stateOf(claim)).toBe('waiting');
    await clock.sleep(29_999);
    expect(await stateOf(claim)).toBe('waiting');
  });

  it('that was released is free at once', async () => {
    shelf.put(FREE);
    expect(await stateOf(claimOf())).toBe('held');
  });

  it('is not taken if it was renewed after the look', async () => {
    shelf.put(theirs());
    const claim = claimOf();
    expect(await stateOf(claim)).toBe('waiting');
    await clock.sleep(LEASE_MS);
    shelf.put(theirs('2026-01-01T00:00:01.000000Z'));
    expect(await stateOf(claim)).toBe('waiting');
    expect(shelf.lease?.spec).toMatchObject({ holderIdentity: 'go' });
  });
});

describe('a lease of ours', () => {
  it('is dated in another second by each renewal', async () => {
    const claim = await held();
    const seconds = new Set<string | undefined>();
    for (let n = 0; n < 5; n++) {
      await ours.renew(claim);
      seconds.add(shelf.lease?.spec?.renewTime?.slice(0, 19));
      await clock.sleep(10);
    }
    expect(seconds).toHaveLength(5);
  });

  it('is not renewed once its time is over, though no other has taken it', async () => {
    const claim = await held();
    await clock.sleep(LEASE_MS);
    expect(await ours.renew(claim)).toEqual({ state: 'gone', why: 'expired' });
    expect(await ours.release(claim, 0)).toBe(false);
    expect(shelf.lease?.spec).toMatchObject({ holderIdentity: '' });
  });

  it('that another has taken is left to that one', async () => {
    const claim = await held();
    shelf.put(theirs());
    expect(await ours.renew(claim)).toMatchObject({ state: 'gone', why: 'evicted' });
    expect(await ours.release(claim, 0)).toBe(false);
    expect(shelf.lease?.spec).toMatchObject({ holderIdentity: 'go' });
  });

  it('that another has ended, and none has taken, goes on', async () => {
    const claim = await held();
    for (let n = 0; n < 2; n++) {
      shelf.put({ ...shelf.lease?.spec, holderIdentity: '' });
      expect(await ours.renew(claim)).toMatchObject({ state: 'held', token: 1n });
      expect(shelf.lease?.spec).toMatchObject({ holderIdentity: identityOf(claim) });
    }
  });

  it('that is taken back by a late renewal is not held after its release', async () => {
    const claim = await held();
    const ended = shelf.put({ ...shelf.lease?.spec, holderIdentity: '' });
    shelf.instead = lost;
    await expect(ours.renew(claim)).rejects.toThrow(/broke/);
    await ours.release(claim, 0);
    expect(await shelf.write('', theirs(), ended)).toBe('other');
  });

  it('that another has ended, and a third had since, is lost', async () => {
    const claim = await held();
    shelf.put({ ...shelf.lease?.spec, holderIdentity: '', leaseTransitions: 1 });
    expect(await ours.renew(claim)).toMatchObject({ state: 'gone', why: 'evicted' });
  });

  it('has one token, which is not that of its renewals', async () => {
    const claim = claimOf();
    expect(await ours.claim(claim)).toMatchObject({ state: 'held', token: 1n });
    expect(await ours.renew(claim)).toMatchObject({ state: 'held', token: 1n });
    await ours.release(claim, 0);
    expect(await ours.claim(claimOf())).toMatchObject({ state: 'held', token: 4n });
  });
});

it.each([
  ['there is no lease yet', undefined],
  ['it is free', FREE],
])('a claim that is granted while its release looks is not left behind: %s', async (_, lease) => {
  if (lease) shelf.put(lease);
  const claim = claimOf();
  // The claim has looked and is about to write.
  const write = gate();
  const { write: now } = Shelf.prototype;
  shelf.write = async (...args) => {
    shelf.write = now;
    await write.opened;
    return shelf.write(...args);
  };
  const claimed = ours.claim(claim);
  await clock.sleep(1);
  shelf.meanwhile = () => {
    write.open();
    return claimed;
  };
  expect(await ours.release(claim, 0)).toBe(true);
  expect(shelf.lease?.spec).toMatchObject({ holderIdentity: '' });
});

describe('a claim without a reply', () => {
  const written = (claim: Claim) => ({ ...theirs(), holderIdentity: identityOf(claim) });

  it('that was carried out is found, and lives from before it was sent', async () => {
    const claim = claimOf();
    shelf.instead = () => {
      shelf.put(written(claim));
      return lost();
    };
    await expect(ours.claim(claim)).rejects.toThrow(/broke/);
    await clock.sleep(500);
    expect(await ours.claim(claim)).toMatchObject({ state: 'held', leftMs: LEASE_MS - 500 });
  });

  it('that comes after its release finds another version', async () => {
    for (const lease of [undefined, { ...FREE, renewTime: '' }]) {
      const claim = claimOf();
      if (lease) shelf.put(lease);
      const named = shelf.lease;
      shelf.instead = lost;
      await expect(ours.claim(claim)).rejects.toThrow(/broke/);
      expect(await ours.release(claim, 0)).toBe(false);
      expect(await shelf.write('', written(claim), named)).toBe('other');
      expect(await stateOf(claimOf())).toBe('held');
    }
  });
});

it('a name that Kubernetes takes is the name of the lease; any other has one of its own', () => {
  for (const name of ['nightly', 'a', 'jobs.nightly-2']) expect(lockName(name)).toBe(name);
  for (const name of ['Nightly', 'jobs/nightly', '-a', 'a.', 'x'.repeat(254), 'é']) {
    expect(lockName(name)).toMatch(/^[a-z0-9-]*-[0-9a-f]{32}$/);
  }
});
