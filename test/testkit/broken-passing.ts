import type { Store } from 'holdfast';
import type { Claim, ClaimStatus, HandOver } from 'holdfast/store';
import { type BrokenStore, broken, type Sound } from './broken-store.ts';

type Pass = (claim: Claim, ids: HandOver) => Promise<ClaimStatus>;

/** Changes what passing a hold does, or what it answers. */
function passing(store: Sound, change: (pass: Pass) => Pass): Partial<Store> {
  return { handOver: change((claim, ids) => store.handOver(claim, ids)) };
}

/** Stores in which a hold that changes hands comes to harm. */
export const BROKEN_PASSING: readonly BrokenStore[] = [
  broken(
    'a hold is released by its giver, and claimed by its taker',
    /^hand-over: a hold keeps its number/,
    (store) =>
      passing(store, () => async (claim, { from }) => {
        if (claim.id !== from) return (await store.claim([claim]))[0] as ClaimStatus;
        await store.release([claim]);
        return { state: 'gone', why: 'handed-over' };
      }),
  ),
  broken(
    'the giver holds until the taker comes',
    /^hand-over: the old id does nothing/,
    (store) => {
      const given = new Map<string, Claim>();
      return passing(store, (pass) => async (claim, ids) => {
        if (claim.id === ids.from) given.set(ids.to, claim);
        if (claim.id === ids.from) return { state: 'gone', why: 'handed-over' };
        const giver = given.get(ids.from);
        if (giver) await pass(giver, { from: giver.id, to: ids.from });
        return pass(claim, ids);
      });
    },
  ),
  broken('everybody who has the id gets the hold', /^hand-over: of two that come/, (store) => {
    const taken = new Map<string, ClaimStatus>();
    return passing(store, (pass) => async (claim, ids) => {
      const status = taken.get(ids.from) ?? (await pass(claim, ids));
      if (status.state === 'held') taken.set(ids.from, status);
      return status;
    });
  }),
  broken(
    'a hold on its way has what was left of its life',
    /^hand-over: a hold that is not taken/,
    (store) =>
      passing(store, (pass) => (claim, ids) => pass({ ...claim, ttlMs: claim.ttlMs / 2 }, ids)),
  ),
  broken(
    'a taker that gave up gets it all the same',
    /^hand-over: a request that comes after its sender has given up/,
    (store) => {
      let copies = 0;
      return passing(store, (pass) => (claim, { from, to }) => {
        if (claim.id === from) return pass(claim, { from, to });
        const copy = { ...claim, id: `${claim.id} ${++copies}` };
        return pass(copy, { from, to: copy.id });
      });
    },
  ),
];
