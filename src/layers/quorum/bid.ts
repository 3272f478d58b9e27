/**
 * One claim at all members: tried, waited for, held, and given up.
 *
 * Invariant: a bid is held only by votes of a majority that are all its own at the same time, so
 * two bids are never held at once: two majorities share a member, and a member votes for one.
 * While it is held, a vote that is won back counts only if it came while the hold was in force, so
 * that no other hold can have come and gone between. `hold.ts` has its life and its token.
 *
 * No bid waits for ever: a bid waits in one queue, that of its room, the lowest member that replies
 * and remembers. While it waits there it keeps votes of lower members only, so each waiting bid
 * waits for one that waits at a higher member or nowhere: there is no circle, whichever members
 * each can reach (docs/design/0040-quorum.md). Other votes are tries, and given back in the
 * same round if they win nothing. A bid that cannot reach a majority keeps no vote.
 * What would break it: to keep a vote above the room, to wait for a member that lost its memory, or
 * to count a vote that was won back too late.
 */
import type { Clock } from '../../base/clock.ts';
import type {
  Claim,
  ClaimStatus,
  GoneReason,
  GoneStatus,
  WaitingStatus,
} from '../../contract/store.ts';
import { Ballot } from './ballot.ts';
import { QuorumHold } from './hold.ts';
import { type MemberStore, PATIENCES_PER_TTL } from './member.ts';
import { ABLE, above, awaitBriefly, lowestFit, type QuorumVerb, tryAll } from './room.ts';
import { closedMs, failureOf, goneOf, refusalOf } from './tally.ts';
import type { Vote } from './vote.ts';

export interface BidParts {
  readonly members: readonly MemberStore[];
  readonly clock: Clock;
  /** All members can be raised. */
  readonly raises: boolean;
  /** Called when a member wakes the claim. */
  readonly wake: (() => void) | undefined;
}

/** Reasons that more waiting cannot change. */
const FINAL: readonly GoneReason[] = ['mismatch', 'full', 'unknown', 'evicted'];

const OVER: GoneStatus = { state: 'gone', why: 'unknown' };

export class Bid {
  readonly #claim: Claim;
  readonly #parts: BidParts;
  readonly #ballot: Ballot;
  readonly #hold: QuorumHold;
  #over = false;
  /** It has been claimed here; otherwise another instance may have done so. */
  #known = false;
  /** The member at which it waits, or would. */
  #room: Vote | undefined;
  #waits = false;
  /** A member has admitted it since the last round began. */
  #woken = false;
  #evicted = false;
  /** One TTL after the last heartbeat. */
  #livesUntil = Number.NEGATIVE_INFINITY;
  #lost: GoneStatus | undefined;
  #round: { readonly startedAt: number; readonly status: Promise<ClaimStatus> } | undefined;

  constructor(claim: Claim, parts: BidParts) {
    const { members, clock, wake } = parts;
    this.#claim = claim;
    this.#parts = parts;
    const hinted = wake && ((hint?: ClaimStatus) => this.#hinted(hint, wake));
    this.#ballot = new Ballot(claim, members, { clock, wake: hinted });
    this.#hold = new QuorumHold(this.#ballot, parts.raises);
  }

  /** One round: returns as soon as the outcome is certain. Never rejects. */
  async ask(verb: QuorumVerb): Promise<ClaimStatus> {
    if (this.#over) return OVER;
    const startedAt = this.#parts.clock.now();
    const running = this.#round;
    if (running) {
      const status = await running.status;
      if (status.state !== 'held') return status;
      const ageMs = 2 * (startedAt - running.startedAt);
      return { ...status, leftMs: Math.max(0, status.leftMs - ageMs) };
    }
    this.#round = { startedAt, status: this.#ask(verb, startedAt) };
    const status = await this.#round.status;
    this.#round = undefined;
    return this.#over ? OVER : status;
  }

  /** @throws StoreError */
  async release(afterMs: number): Promise<boolean> {
    if (this.#over) return false;
    this.#over = true;
    if (!this.#known) this.#adopt();
    return this.#ballot.release(afterMs);
  }

  #hinted(hint: ClaimStatus | undefined, wake: () => void): void {
    if (hint?.state === 'held') this.#woken = true;
    wake();
  }

  #adopt(): void {
    for (const vote of this.#ballot.votes) vote.adopt();
  }

  #ask(verb: QuorumVerb, startedAt: number): Promise<ClaimStatus> {
    for (const vote of this.#ballot.votes) vote.forget();
    const renews = verb === 'renew' || startedAt >= this.#livesUntil;
    if (renews) this.#livesUntil = startedAt + this.#claim.ttlMs;
    const woken = this.#woken;
    this.#woken = false;
    if (verb === 'claim') {
      // A claim repeated after its death is a new one.
      if (this.#hold.lapsed(startedAt)) this.#hold.end();
      this.#lost = undefined;
      this.#known = true;
    }
    if (this.#lost) return Promise.resolve(this.#lost);
    if (!this.#known) return this.#recall(startedAt);
    if (this.#hold.granted) return this.#confirm(verb, startedAt);
    return this.#waits && !woken ? this.#stand(verb, startedAt) : this.#seek(verb, startedAt);
  }

  /** A heartbeat of a claim that another instance made. */
  async #recall(startedAt: number): Promise<ClaimStatus> {
    const { votes, majority } = this.#ballot;
    this.#adopt();
    await this.#ballot.poll(
      (vote) => vote.ask('renew'),
      () => this.#ballot.won,
    );
    this.#room = votes.find(({ standing }) => standing === 'waiting' || standing === 'held');
    this.#known = this.#room !== undefined;
    if (this.#ballot.won) return this.#grant(startedAt);
    if (this.#room) {
      // A member without the claim may never have had it.
      for (const vote of votes) if (vote.standing === 'missing') vote.forget();
      return this.#seek('renew', startedAt);
    }
    if (this.#ballot.count('unreachable') >= majority) return this.#fail();
    return goneOf(votes) ?? OVER;
  }

  /** A heartbeat of a hold, which wins back missing votes. */
  async #confirm(verb: QuorumVerb, startedAt: number): Promise<ClaimStatus> {
    const { votes, majority } = this.#ballot;
    const heals = verb === 'renew' && !this.#evicted;
    await this.#ballot.poll(
      (vote) => (vote.cast ? vote.ask(verb) : heals ? this.#winBack(vote) : undefined),
      () => this.#ballot.won || this.#ballot.count('held', 'pending', 'unreachable') < majority,
    );
    const [lowest] = votes.filter(({ cast }) => cast);
    if (lowest) await awaitBriefly(lowest, { clock: this.#parts.clock, since: startedAt });
    this.#evicted ||= goneOf(votes)?.why === 'evicted';
    if (this.#ballot.won) return this.#held(startedAt);
    if (this.#ballot.count('held', 'unreachable') >= majority) return this.#fail();
    this.#hold.end();
    if (verb === 'claim') return this.#seek(verb, startedAt);
    this.#lost = goneOf(votes) ?? { state: 'gone', why: 'expired' };
    return this.#lost;
  }

  async #winBack(vote: Vote): Promise<void> {
    await vote.ask('claim');
    if (vote.held && this.#hold.lapsed(this.#parts.clock.now())) vote.letGo();
  }

  /** A heartbeat of a wait: only the room and the members below it matter. */
  async #stand(verb: QuorumVerb, startedAt: number): Promise<ClaimStatus> {
    const room = this.#room as Vote;
    await this.#ballot.poll(
      (vote) => (vote.cast ? vote.ask(verb) : undefined),
      () => room.standing !== 'pending',
    );
    if (room.standing === 'waiting') return this.#wait(room);
    if (room.status?.state === 'gone') return this.#giveUp(room.status);
    if (!room.held) this.#room = undefined;
    return this.#seek(verb, startedAt);
  }

  /** Tries all members at once; then waits for one after the other, upwards. */
  async #seek(verb: QuorumVerb, startedAt: number): Promise<ClaimStatus> {
    const ballot = this.#ballot;
    let room = this.#room ?? lowestFit(ballot, startedAt);
    await this.#try(verb, room);
    for (let turn = 0; turn < 2 * ballot.votes.length; turn++) {
      this.#room = room;
      if (this.#over) return OVER;
      if (room.standing === 'waiting') return this.#wait(room);
      const { status } = room;
      if (status?.state === 'gone' && FINAL.includes(status.why)) return this.#giveUp(status);
      const yields = !this.#claim.queue && room.standing === 'refused' && closedMs(room) === 0;
      if (ballot.won && !yields) return this.#grant(startedAt);
      const able = ballot.count(...ABLE, 'held', 'pending') >= ballot.majority;
      if (able && !this.#claim.queue) return this.#giveUp(refusalOf(ballot));
      const next = able ? above(ballot, room) : undefined;
      if (!next) return this.#despair();
      room = next;
      ballot.letGo(room);
      await room.ask('claim', true);
      if (room.held) await this.#try(verb, room);
    }
    ballot.letGo();
    this.#room = undefined;
    return this.#soon();
  }

  #try(verb: QuorumVerb, room: Vote): Promise<void> {
    const { queue } = this.#claim;
    return tryAll(this.#ballot, { clock: this.#parts.clock, verb, room, queue });
  }

  async #grant(startedAt: number): Promise<ClaimStatus> {
    return (await this.#hold.begin()) ? this.#held(startedAt) : this.#fail();
  }

  #held(startedAt: number): ClaimStatus {
    this.#waits = false;
    this.#room = undefined;
    return this.#hold.prolong(startedAt, this.#livesUntil - startedAt);
  }

  #wait(room: Vote): ClaimStatus {
    this.#ballot.letGo(room);
    this.#waits = true;
    return room.status as ClaimStatus;
  }

  #giveUp(status: GoneStatus): GoneStatus {
    this.#ballot.letGo();
    this.#waits = false;
    this.#room = undefined;
    return status;
  }

  /** Without a majority it keeps at most a place at one member that lost its memory. */
  #despair(): ClaimStatus {
    const ballot = this.#ballot;
    const gone = goneOf(ballot.votes.filter(({ standing }) => standing === 'gone'));
    if (gone && FINAL.includes(gone.why)) return this.#giveUp(gone);
    const forgetful = ballot.votes.filter(({ standing }) => standing === 'quarantined');
    const later = ballot.count(...ABLE, 'held') + forgetful.length >= ballot.majority;
    if (later && !this.#claim.queue) return this.#giveUp(refusalOf(ballot));
    const retries = forgetful.map(({ status }) => (status as WaitingStatus).retryInMs);
    const [first] = forgetful;
    for (const vote of ballot.votes) if (!later || vote !== first) vote.letGo();
    this.#room = undefined;
    this.#waits = false;
    if (!later) return this.#fail();
    // If no member lost its memory, its own place has expired, and no other claim is known.
    return first ? this.#later(Math.min(...retries), 'data-loss') : this.#soon();
  }

  #soon(): ClaimStatus {
    const pauseMs = this.#claim.ttlMs / PATIENCES_PER_TTL;
    return this.#later(this.#parts.clock.random() * pauseMs, 'queue');
  }

  #later(retryInMs: number, why: WaitingStatus['why']): ClaimStatus {
    return { state: 'waiting', leftMs: this.#claim.ttlMs, why, retryInMs };
  }

  #fail(): ClaimStatus {
    return { state: 'error', error: failureOf(this.#ballot) };
  }
}
