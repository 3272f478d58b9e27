/**
 * One claim at all members: tried, waited for, held, and given up.
 *
 * Invariant: a claim is held only by votes of a majority that are all its own at the same time, so
 * two claims are never held at once: two majorities share a member, and a member votes for one.
 * While it is held, a vote that is won back counts only if it came while the hold was in force, so
 * that no other hold can have come and gone between. `hold.ts` has its life and its token.
 *
 * No claim waits for ever: a claim waits in one queue, at its place, the lowest member that replies
 * and remembers. While it waits there it keeps votes of lower members only, so each waiting claim
 * waits for one that waits at a higher member or nowhere: there is no circle, whichever members
 * each can reach (docs/design/0040-quorum.md). Other votes are tries, and given back in the
 * same round if they win nothing. A claim that cannot reach a majority keeps no vote.
 * What would break it: keeping a vote above the place, waiting for a member that lost its memory,
 * or counting a vote that was won back too late.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import { EXPIRED, UNKNOWN } from '../../contract/gone.ts';
import type {
  Claim,
  ClaimStatus,
  GoneReason,
  GoneStatus,
  WaitingStatus,
} from '../../contract/store.ts';
import { closedMs, failureOf, goneOf, refusalOf } from './counting.ts';
import { QuorumHold } from './hold.ts';
import { type MemberStore, PATIENCES_PER_TTL } from './member-store.ts';
import type { QuorumVerb, Vote } from './vote.ts';
import { ABLE, QuorumVotes } from './votes.ts';

export interface QuorumClaimParts {
  readonly members: readonly MemberStore[];
  readonly clock: Clock;
  /** All members can be raised. */
  readonly raises: boolean;
  readonly wake: (() => void) | undefined;
}

/** Least time in ms to wait for a silent member when the others have granted. */
const GRACE_MS = 10;

/** Reasons that more waiting cannot change. */
const FINAL: readonly GoneReason[] = ['mismatch', 'full', 'unknown', 'evicted'];

export class QuorumClaim {
  readonly #claim: Claim;
  readonly #parts: QuorumClaimParts;
  readonly #quorum: QuorumVotes;
  readonly #hold: QuorumHold;
  #over = false;
  /** It has been claimed here; otherwise another instance may have done so. */
  #known = false;
  /** The member at which it waits, or would. */
  #place: Vote | undefined;
  #waits = false;
  /** A member has admitted it since the last round began. */
  #woken = false;
  #evicted = false;
  /** One TTL after the last heartbeat. */
  #livesUntil = Number.NEGATIVE_INFINITY;
  #lost: GoneStatus | undefined;
  #round: { readonly startedAt: number; readonly status: Promise<ClaimStatus> } | undefined;

  constructor(claim: Claim, parts: QuorumClaimParts) {
    const { members, clock, wake } = parts;
    this.#claim = claim;
    this.#parts = parts;
    const hinted = wake && ((hint?: ClaimStatus) => this.#hinted(hint, wake));
    this.#quorum = new QuorumVotes(claim, members, { clock, wake: hinted });
    this.#hold = new QuorumHold(this.#quorum, parts.raises);
  }

  /** One round: returns as soon as the outcome is certain. Never rejects. */
  async ask(verb: QuorumVerb): Promise<ClaimStatus> {
    if (this.#over) return UNKNOWN;
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
    return this.#over ? UNKNOWN : status;
  }

  async release(afterMs: number): Promise<boolean> {
    if (this.#over) return false;
    this.#over = true;
    if (!this.#known) this.#adopt();
    return this.#quorum.release(afterMs);
  }

  #hinted(hint: ClaimStatus | undefined, wake: () => void): void {
    if (hint?.state === 'held') this.#woken = true;
    wake();
  }

  #adopt(): void {
    for (const vote of this.#quorum.votes) vote.adopt();
  }

  #ask(verb: QuorumVerb, startedAt: number): Promise<ClaimStatus> {
    for (const vote of this.#quorum.votes) vote.forget();
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
    const { votes, majority } = this.#quorum;
    this.#adopt();
    await this.#quorum.poll(
      (vote) => vote.ask('renew'),
      () => this.#quorum.won,
    );
    this.#place = votes.find(({ standing }) => standing === 'waiting' || standing === 'held');
    this.#known = this.#place !== undefined;
    if (this.#quorum.won) return this.#grant(startedAt);
    if (this.#place) {
      // A member without the claim may never have had it.
      for (const vote of votes) if (vote.standing === 'missing') vote.forget();
      return this.#seek('renew', startedAt);
    }
    if (this.#quorum.count('unreachable') >= majority) return this.#fail();
    return goneOf(votes) ?? UNKNOWN;
  }

  /** A heartbeat of a hold, which wins back missing votes. */
  async #confirm(verb: QuorumVerb, startedAt: number): Promise<ClaimStatus> {
    const { votes, majority } = this.#quorum;
    const heals = verb === 'renew' && !this.#evicted;
    await this.#quorum.poll(
      (vote) => (vote.cast ? vote.ask(verb) : heals ? this.#winBack(vote) : undefined),
      () => this.#quorum.won || this.#quorum.count('held', 'pending', 'unreachable') < majority,
    );
    const [lowest] = votes.filter(({ cast }) => cast);
    if (lowest) await this.#awaitBriefly(lowest, startedAt);
    this.#evicted ||= goneOf(votes)?.why === 'evicted';
    if (this.#quorum.won) return this.#held(startedAt);
    if (this.#quorum.count('held', 'unreachable') >= majority) return this.#fail();
    this.#hold.end();
    if (verb === 'claim') return this.#seek(verb, startedAt);
    this.#lost = goneOf(votes) ?? EXPIRED;
    return this.#lost;
  }

  async #winBack(vote: Vote): Promise<void> {
    await vote.ask('claim');
    if (vote.held && this.#hold.lapsed(this.#parts.clock.now())) vote.letGo();
  }

  /** A heartbeat of a wait: only the place and the members below it matter. */
  async #stand(verb: QuorumVerb, startedAt: number): Promise<ClaimStatus> {
    const place = this.#place as Vote;
    await this.#quorum.poll(
      (vote) => (vote.cast ? vote.ask(verb) : undefined),
      () => place.standing !== 'pending',
    );
    if (place.standing === 'waiting') return this.#wait(place);
    if (place.status?.state === 'gone') return this.#giveUp(place.status);
    if (!place.held) this.#place = undefined;
    return this.#seek(verb, startedAt);
  }

  /** Tries all members at once; then waits for one after the other, upwards. */
  async #seek(verb: QuorumVerb, startedAt: number): Promise<ClaimStatus> {
    const quorum = this.#quorum;
    let place = this.#place ?? quorum.lowestFit(startedAt);
    await this.#try(verb, place);
    for (let turn = 0; turn < 2 * quorum.votes.length; turn++) {
      this.#place = place;
      if (this.#over) return UNKNOWN;
      if (place.standing === 'waiting') return this.#wait(place);
      const { status } = place;
      if (status?.state === 'gone' && FINAL.includes(status.why)) return this.#giveUp(status);
      const yields = !this.#claim.queue && place.standing === 'refused' && closedMs(place) === 0;
      if (quorum.won && !yields) return this.#grant(startedAt);
      const able = quorum.count(...ABLE, 'held', 'pending') >= quorum.majority;
      if (able && !this.#claim.queue) return this.#giveUp(refusalOf(quorum));
      const next = able ? quorum.above(place) : undefined;
      if (!next) return this.#despair();
      place = next;
      quorum.letGo(place);
      await place.ask('claim', true);
      if (place.held) await this.#try(verb, place);
    }
    quorum.letGo();
    this.#place = undefined;
    return this.#soon();
  }

  /** Asks the members that have not granted, until it is certain whether a majority does. */
  async #try(verb: QuorumVerb, place: Vote): Promise<void> {
    const quorum = this.#quorum;
    const { queue } = this.#claim;
    const since = this.#parts.clock.now();
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
    await this.#awaitBriefly(place, since);
  }

  /** Waits only briefly for a silent member when the outcome is certain without it. */
  async #awaitBriefly(vote: Vote, since: number): Promise<void> {
    if (vote.standing !== 'pending') return;
    const { clock } = this.#parts;
    const settled = new AbortController();
    void vote.settled.then(() => settled.abort());
    await sleep(clock, Math.max(GRACE_MS, 2 * (clock.now() - since)), settled.signal);
    if (vote.standing === 'pending') vote.member.suspect(vote.resource);
  }

  async #grant(startedAt: number): Promise<ClaimStatus> {
    return (await this.#hold.begin()) ? this.#held(startedAt) : this.#fail();
  }

  #held(startedAt: number): ClaimStatus {
    this.#waits = false;
    this.#place = undefined;
    return this.#hold.prolong(startedAt, this.#livesUntil - startedAt);
  }

  #wait(place: Vote): ClaimStatus {
    this.#quorum.letGo(place);
    this.#waits = true;
    return place.status as ClaimStatus;
  }

  #giveUp(status: GoneStatus): GoneStatus {
    this.#quorum.letGo();
    this.#waits = false;
    this.#place = undefined;
    return status;
  }

  /** Without a majority it keeps at most a place at one member that lost its memory. */
  #despair(): ClaimStatus {
    const quorum = this.#quorum;
    const gone = goneOf(quorum.votes.filter(({ standing }) => standing === 'gone'));
    if (gone) return this.#giveUp(gone);
    const forgetful = quorum.votes.filter(({ standing }) => standing === 'quarantined');
    const later = quorum.count(...ABLE, 'held') + forgetful.length >= quorum.majority;
    if (later && !this.#claim.queue) return this.#giveUp(refusalOf(quorum));
    const retries = forgetful.map(({ status }) => (status as WaitingStatus).retryInMs);
    const [first] = forgetful;
    for (const vote of quorum.votes) if (!later || vote !== first) vote.letGo();
    this.#place = undefined;
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
    return { state: 'error', error: failureOf(this.#quorum) };
  }
}
