/**
 * The hold of a claim: its token, and until when it is in force.
 *
 * Invariant: tokens grow. The token is the greatest number in a majority of the votes, and nothing
 * is granted before a majority has that number or a greater one. A later holder has a majority too,
 * and in it a member of the first, where numbers only grow (docs/design/0040-quorum.md).
 * Let P be held before Q, with tokens S and T, and m a member that was raised for P and read by Q.
 * If P's vote came first at m, its number was at least S when Q got one there, so T > S. If Q's
 * came first, take a member w that was raised for Q and read by P. If Q's vote came first at w as
 * well, S > T, and Q was held before P. Else P's vote ended at w before Q's began, and Q's at m
 * before P's began. But each has all the votes that it counts on at the moment of its grant. At
 * that of Q, Q had m and w; so P had w only before it and m only after it, and never both.
 * A late `raise` is refused for a vote that has ended. Votes that are won back need not be raised,
 * because the members that were raised keep their numbers. A member that lost its memory votes
 * again after `maxTtl`, with numbers from its clock.
 * The life of a hold is the least one in a majority, counted from when the round began, which is
 * before any of its requests left.
 * What would break it: granting before a majority was raised, or counting a life from its reply.
 */
import type { HeldStatus, Takeover } from '../../contract/store.ts';
import { leftOf, takeoverOf, tokenOf } from './counting.ts';
import type { QuorumVotes } from './votes.ts';

/** The share of a life that is safe against clocks of different rates. */
const SURE = 0.9;

export class QuorumHold {
  readonly #quorum: QuorumVotes;
  readonly #raises: boolean;
  #token: bigint | undefined;
  #takeover: Takeover | undefined;
  /** Until when it is in force without another confirmation. */
  #lapsesAt = Number.NEGATIVE_INFINITY;

  constructor(quorum: QuorumVotes, raises: boolean) {
    this.#quorum = quorum;
    this.#raises = raises;
  }

  get granted(): boolean {
    return this.#token !== undefined;
  }

  lapsed(now: number): boolean {
    return now >= this.#lapsesAt;
  }

  /** On the votes of a majority; false if the token is not that of a majority. */
  async begin(): Promise<boolean> {
    const quorum = this.#quorum;
    const token = tokenOf(quorum);
    const low = quorum.held.filter((vote) => (vote.held?.token ?? token) < token);
    const raised = (): boolean =>
      quorum.held.filter((vote) => (vote.held?.token ?? 0n) >= token).length >= quorum.majority;
    if (this.#raises && low.length > 0) {
      const lift = quorum.poll(
        (vote) => (low.includes(vote) ? vote.raise(token) : undefined),
        raised,
      );
      if (!raised()) await lift;
      if (!raised()) return false;
    }
    this.#token = token;
    this.#takeover = takeoverOf(quorum);
    return true;
  }

  /** On the votes of a round that began then; the claim itself lives for this long from then on. */
  prolong(startedAt: number, lifeMs: number): HeldStatus {
    const quorum = this.#quorum;
    // Fresh votes may outlive the claim, which only heartbeats prolong.
    const leftMs = Math.min(lifeMs, leftOf(quorum, startedAt));
    this.#lapsesAt = Math.max(this.#lapsesAt, startedAt + leftMs * SURE);
    const waiters = Math.max(...quorum.votes.map((vote) => vote.held?.waiters ?? 0));
    return { state: 'held', token: this.#token ?? 0n, leftMs, waiters, takeover: this.#takeover };
  }

  end(): void {
    this.#token = undefined;
  }
}
