/** Where a claim waits: how it tries all members, and at which it waits if others were first. */
import { type Clock, sleep } from '../../base/clock.ts';
import type { Vote, VoteState } from './vote.ts';
import type { QuorumVotes } from './votes.ts';

export type QuorumVerb = 'claim' | 'renew';

/** The standings of members at which it can wait. */
export const ABLE: readonly VoteState[] = ['unasked', 'refused', 'missing', 'waiting'];

/** Least time in ms to wait for a silent member there when the others have granted. */
const GRACE_MS = 10;

/** The lowest member that replies and remembers. */
export function lowestFit({ votes }: QuorumVotes, now: number): Vote {
  return votes.find(({ member, resource }) => member.serves(resource, now)) ?? (votes[0] as Vote);
}

/** The next higher member at which it can wait; otherwise the lowest such member. */
export function above({ votes }: QuorumVotes, place: Vote): Vote | undefined {
  const taken = votes.filter((vote) => vote !== place && ABLE.includes(vote.standing));
  return taken.find((vote) => votes.indexOf(vote) > votes.indexOf(place)) ?? taken[0];
}

/** Asks the members that have not granted, until it is certain whether a majority does. */
export async function tryAll(
  quorum: QuorumVotes,
  parts: {
    readonly clock: Clock;
    readonly verb: QuorumVerb;
    readonly place: Vote;
    readonly queue: boolean;
  },
): Promise<void> {
  const { clock, verb, place, queue } = parts;
  const since = clock.now();
  await quorum.poll(
    (vote) => {
      const open = vote.standing === 'unasked' || vote.standing === 'refused';
      return open ? vote.ask(verb, queue && vote === place) : undefined;
    },
    () => {
      if (place.standing === 'waiting' || quorum.won) return true;
      const lost = quorum.count('held', 'pending') < quorum.majority;
      return place.standing !== 'pending' && (lost || (!queue && place.standing === 'refused'));
    },
  );
  // Waiters at the place come first.
  await awaitBriefly(place, { clock, since });
}

/** Waits only briefly for a silent member when the outcome is certain without it. */
export async function awaitBriefly(
  vote: Vote,
  { clock, since }: { readonly clock: Clock; readonly since: number },
): Promise<void> {
  if (vote.standing !== 'pending') return;
  const graceMs = Math.max(GRACE_MS, 2 * (clock.now() - since));
  const settled = new AbortController();
  void vote.settled.then(() => settled.abort());
  await sleep(clock, graceMs, settled.signal);
  if (vote.standing === 'pending') vote.member.suspect(vote.resource);
}
