import type { Claim } from '../../contract/store.ts';
import type { MemberStore } from './member-store.ts';
import { Vote, type VoteParts, type VoteState } from './vote.ts';

/** The standings of members at which a claim can wait. */
export const ABLE: readonly VoteState[] = ['unasked', 'refused', 'missing', 'waiting'];

/** The votes of all members on one claim, lowest member first. */
export class QuorumVotes {
  readonly votes: readonly Vote[];
  readonly majority: number;

  constructor(claim: Claim, members: readonly MemberStore[], parts: Omit<VoteParts, 'member'>) {
    this.votes = members.map((member) => new Vote(claim, { ...parts, member }));
    this.majority = majorityOf(members.length);
  }

  get held(): readonly Vote[] {
    return this.votes.filter((vote) => vote.held);
  }

  get won(): boolean {
    return this.held.length >= this.majority;
  }

  count(...standings: readonly VoteState[]): number {
    return this.votes.filter((vote) => standings.includes(vote.standing)).length;
  }

  /** The lowest member that replies and remembers. */
  lowestFit(now: number): Vote {
    const fit = this.votes.find(({ member, resource }) => member.serves(resource, now));
    return fit ?? (this.votes[0] as Vote);
  }

  /** The next higher member at which the claim can wait; otherwise the lowest such member. */
  above(place: Vote): Vote | undefined {
    const taken = this.votes.filter((vote) => vote !== place && ABLE.includes(vote.standing));
    const at = this.votes.indexOf(place);
    return taken.find((vote) => this.votes.indexOf(vote) > at) ?? taken[0];
  }

  /** Asks, and resolves as soon as it is settled, or all have replied, as every member does. */
  poll(ask: (vote: Vote) => Promise<void> | undefined, settled: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const asked = this.votes.flatMap((vote) => ask(vote) ?? []);
      let left = asked.length;
      if (left === 0) resolve();
      for (const each of asked) {
        void each.then(() => {
          left--;
          if (left === 0 || settled()) resolve();
        });
      }
    });
  }

  /** Gives back, in the background, the votes of members above this one, or of all. */
  letGo(above?: Vote): void {
    for (const vote of this.votes.slice(above ? this.votes.indexOf(above) + 1 : 0)) vote.letGo();
  }

  /**
   * Gives back the votes of all members, also of those that have not replied. Resolves when a
   * majority has confirmed it; the others do so in the background.
   */
  async release(afterMs: number): Promise<boolean> {
    const cast = this.votes.filter((vote) => vote.cast);
    const enough = Math.min(this.majority, cast.length);
    const answers: boolean[] = [];
    let failure: unknown;
    const release = async (vote: Vote): Promise<void> => {
      try {
        answers.push(await vote.release(afterMs));
      } catch (error) {
        failure = error;
      }
    };
    // A refused vote has a subscription at most.
    for (const vote of this.votes) if (!vote.cast) vote.letGo();
    await this.poll(
      (vote) => (vote.cast ? release(vote) : undefined),
      () => answers.length >= enough && answers.includes(true),
    );
    if (answers.length < enough) throw failure;
    return answers.includes(true);
  }
}

export function majorityOf(members: number): number {
  return Math.floor(members / 2) + 1;
}
