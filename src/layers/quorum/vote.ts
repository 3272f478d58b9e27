/**
 * One member's vote on a claim.
 *
 * A vote is a claim at the member, with an id that is used until the vote is given back; then the
 * next one has a new id, because release is final. At most one request of an id is under way,
 * except for the release, which leaves a tombstone against a request that is still under way.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Claim, ClaimStatus, GoneReason, HeldStatus, Wake } from '../../contract/store.ts';
import type { MemberStore } from './member-store.ts';

/**
 * The meaning of a member's reply; `unasked` in this round, or `pending`. A `missing` claim may be
 * made anew, a `gone` one may not.
 */
export type VoteState =
  | 'unasked'
  | 'pending'
  | 'held'
  | 'waiting'
  | 'quarantined'
  | 'refused'
  | 'missing'
  | 'gone'
  | 'unreachable';

export type QuorumVerb = 'claim' | 'renew';

export interface VoteParts {
  readonly member: MemberStore;
  readonly clock: Clock;
  readonly wake: Wake | undefined;
}

/** Reasons that more asking cannot change. */
const FINAL: readonly GoneReason[] = ['mismatch', 'full', 'evicted'];

export class Vote {
  readonly member: MemberStore;
  /** The member's reply in this round. */
  status: ClaimStatus | undefined;
  /** When the request of that reply was sent. */
  sentAt = 0;
  readonly #parts: VoteParts;
  readonly #whole: Claim;
  #claim: Claim | undefined;
  /** Where the claim was in the member's last reply. */
  #place: 'held' | 'waiting' | undefined;
  #attempt = 0;
  /** Another instance may have sent it, so a `gone` claim may never have been there. */
  #adopted = false;
  #pending: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #watching: Promise<AsyncDisposable | undefined> | undefined;

  constructor(whole: Claim, parts: VoteParts) {
    this.#whole = whole;
    this.#parts = parts;
    this.member = parts.member;
  }

  /** The claim is, or may be, in the member's queue. */
  get cast(): boolean {
    return this.#claim !== undefined;
  }

  get standing(): VoteState {
    if (this.#pending) return 'pending';
    const { status } = this;
    if (!status) return 'unasked';
    if (status.state === 'held') return 'held';
    if (status.state === 'waiting') return status.why === 'queue' ? 'waiting' : 'quarantined';
    if (status.state === 'error') return 'unreachable';
    if (status.why === 'refused') return 'refused';
    return FINAL.includes(status.why) ? 'gone' : 'missing';
  }

  get resource(): string {
    return this.#whole.resource;
  }

  get held(): HeldStatus | undefined {
    return this.standing === 'held' ? (this.status as HeldStatus) : undefined;
  }

  /** Drops the reply of an earlier round. */
  forget(): void {
    if (!this.#pending) this.status = undefined;
  }

  /** The claim may have been sent by another instance: then it has its own id at each member. */
  adopt(): void {
    this.#claim ??= { ...this.#whole };
    this.#place ??= 'held';
    this.#adopted = true;
  }

  /** Resolves when the member has replied, or its time limit has passed. */
  get settled(): Promise<void> {
    return this.#next ?? this.#pending ?? Promise.resolve();
  }

  /** Asks the member, after any request under way: an old reply is no heartbeat. */
  ask(verb: QuorumVerb, queue = false): Promise<void> {
    if (this.#next) return this.#next;
    const attempt = this.#attempt;
    const again = async (): Promise<void> => {
      if (attempt !== this.#attempt) return;
      this.#next = undefined;
      await this.ask(verb, queue);
    };
    if (this.#pending) this.#next = this.#pending.then(again);
    else this.#pending = this.#ask(verb, queue);
    return this.settled;
  }

  async raise(number: bigint): Promise<void> {
    const claim = this.#claim;
    if (!claim) return;
    const status = await this.member.ask('raise', claim, number);
    if (this.#claim?.id !== claim.id) return;
    // A raise is no heartbeat: the life left is that of the reply before.
    const leftMs = this.held?.leftMs ?? 0;
    this.#take(claim, status.state === 'held' ? { ...status, leftMs } : status);
  }

  /** Gives the vote back, also if the member has not replied yet. */
  release(afterMs = 0): Promise<boolean> {
    const claim = this.#claim;
    const unanswered = this.#pending !== undefined || claim?.unanswered === true;
    const keepsMs = this.#place === 'held' ? afterMs : 0;
    this.#drop();
    if (!claim) return Promise.resolve(false);
    return this.member.release(unanswered ? { ...claim, unanswered } : claim, keepsMs);
  }

  letGo(): void {
    this.release().catch(() => {});
  }

  async #ask(verb: QuorumVerb, queue: boolean): Promise<void> {
    const { wake, clock } = this.#parts;
    const own = this.#claim ?? { ...this.#whole, id: this.#id(), queue };
    const claim = queue && !own.queue ? { ...own, queue } : own;
    this.#claim = claim;
    if (wake && !this.#watching) {
      this.#watching = this.member.watch(claim, wake);
      await this.#watching;
      if (this.#claim?.id !== claim.id) return;
    }
    // At a store without a queue, a waiting claim is tried again.
    const stands = this.member.store.traits.queue ? this.#place : this.#place === 'held';
    const sentAt = clock.now();
    const status = await this.member.ask(stands ? verb : 'claim', claim);
    if (this.#claim?.id !== claim.id) return;
    this.sentAt = sentAt;
    this.#take(claim, status);
    this.#pending = undefined;
  }

  #take(claim: Claim, status: ClaimStatus): void {
    this.status = status;
    if (status.state === 'error') {
      if (status.error.outcome === 'unknown') this.#claim = { ...claim, unanswered: true };
      return;
    }
    this.#place = status.state === 'gone' ? undefined : status.state;
    if (status.state !== 'gone') this.#adopted = false;
    if (status.state !== 'gone') return;
    // A try that was refused, or never made, may be repeated with its id.
    if (status.why === 'refused' || this.#adopted) this.#claim = undefined;
    else this.#drop();
    this.status = status;
  }

  #drop(): void {
    this.#claim = undefined;
    this.#place = undefined;
    this.#pending = undefined;
    this.#next = undefined;
    this.status = undefined;
    this.#attempt++;
    void this.#watching
      ?.then((subscription) => subscription?.[Symbol.asyncDispose]())
      .catch(() => {});
    this.#watching = undefined;
  }

  #id(): string {
    const { id } = this.#whole;
    if (this.#attempt === 0) return id;
    return createHash('sha256').update(`${id} ${this.#attempt}`).digest('hex').slice(0, 32);
  }
}
