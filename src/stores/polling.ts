/**
 * Looking for changes where the database cannot send wakes: one statement per process for all its
 * waiting claims.
 *
 * How often? The next look at a claim comes after an eighth of the time until its turn, which is
 * estimated from how quickly claims before it have left. So the looks of a wait grow with the
 * logarithm of its place and length: the 500th claim in a queue that moves ten times a second gets
 * about 60 looks in its 50 seconds, and its turn is noticed 10 ms late. A claim behind a holder
 * that does not leave gets ever fewer looks, down to a bound. A wake comes about an eighth of the
 * wait too late, for the next in line about a quarter of a second at most; a heartbeat or the death
 * of the claim before may bring it earlier. Random delays spread the looks of processes that began
 * together.
 * What would break it: planning the next look before the reply to the last one, because a slow
 * database would then be asked ever more.
 */
import type { Clock, Timer } from '../base/clock.ts';
import type { Claim, ClaimStatus, WaitingStatus, Wake } from '../contract/store.ts';
import { entered, type Subscription } from './subscription.ts';

/** In ms. Users would not notice less, but the database would. */
const SHORTEST_MS = 20;
/** Longest pause of the next claim in line, and for each further place, in ms. */
const LONGEST_MS = 250;
/** Longest pause of all, in ms. */
const LONGEST_OF_ALL_MS = 2000;
/** The pause as a share of the time until a claim's turn. */
const SHARE = 1 / 8;
/** Claims that come due within this many ms are looked at together. */
const TOGETHER_MS = 10;

interface Seeker {
  readonly resource: string;
  readonly wake: Wake;
  /** Undefined while the claim does not wait, or does not know it yet. */
  since?: { readonly at: number; readonly ahead: number } | undefined;
  dueAt: number;
  /** Its last known state: whether it holds, and how many are before it. */
  known: string;
  /** When it would ask by itself. */
  askAt: number;
}

export interface PollingParts {
  readonly clock: Clock;
  /** Looks up these ids, which claim these resources; returns the status of those that live. */
  readonly look: (
    ids: readonly string[],
    resources: ReadonlySet<string>,
  ) => Promise<ReadonlyMap<string, ClaimStatus>>;
}

export class Polling {
  readonly #parts: PollingParts;
  readonly #seekers = new Map<string, Seeker>();
  #timer: Timer | undefined;
  #looking = false;
  #closed = false;

  constructor(parts: PollingParts) {
    this.#parts = parts;
  }

  watch({ id, resource }: Claim, wake: Wake): Subscription {
    const dueAt = Number.POSITIVE_INFINITY;
    return entered(this.#seekers, id, { resource, wake, dueAt, known: '', askAt: 0 });
  }

  /** Takes a status that another call has returned for a claim. */
  saw({ id }: Claim, status: ClaimStatus): void {
    const seeker = this.#seekers.get(id);
    if (!seeker || status.state === 'error') return;
    this.#learn(seeker, status);
    this.#arm();
  }

  close(): void {
    this.#closed = true;
    if (this.#timer) this.#parts.clock.clearTimeout(this.#timer);
  }

  #plan(seeker: Seeker, { ahead = 1 }: WaitingStatus): void {
    const { clock } = this.#parts;
    const now = clock.now();
    seeker.since ??= { at: now, ahead };
    const passed = Math.max(0, seeker.since.ahead - ahead);
    const before = Math.max(1, ahead);
    const turnMs = (before * (now - seeker.since.at)) / (passed + 1);
    const longest = Math.min(LONGEST_MS * before, LONGEST_OF_ALL_MS);
    const pause = Math.min(Math.max(turnMs * SHARE, SHORTEST_MS), longest);
    seeker.dueAt = now + pause * (0.75 + clock.random() / 2);
  }

  #arm(): void {
    const { clock } = this.#parts;
    if (this.#timer) clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#looking || this.#closed) return;
    let dueAt = Number.POSITIVE_INFINITY;
    for (const seeker of this.#seekers.values()) dueAt = Math.min(dueAt, seeker.dueAt);
    if (dueAt === Number.POSITIVE_INFINITY) return;
    this.#timer = clock.setTimeout(() => void this.#look(), Math.max(0, dueAt - clock.now()));
    this.#timer.unref();
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { clock, look } = this.#parts;
    const until = clock.now() + TOGETHER_MS;
    const due = [...this.#seekers].filter(([, { dueAt }]) => dueAt <= until);
    if (due.length === 0) return this.#arm();
    this.#looking = true;
    try {
      const ids = due.map(([id]) => id);
      const statuses = await look(ids, new Set(due.map(([, { resource }]) => resource)));
      for (const [id, seeker] of due) this.#wake(seeker, statuses.get(id));
    } catch {
      // A database in trouble is asked less often; the heartbeats report the error.
      for (const [, seeker] of due) seeker.dueAt = clock.now() + LONGEST_OF_ALL_MS;
    }
    this.#looking = false;
    this.#arm();
  }

  /** Wakes a claim that moved; one that is gone learns why from its next heartbeat. */
  #wake(seeker: Seeker, status: ClaimStatus | undefined): void {
    const { known, askAt } = seeker;
    this.#learn(seeker, status);
    // A hold that was to last longer ends: nothing else shows that.
    if (seeker.known !== known || seeker.askAt < askAt - LONGEST_MS) seeker.wake(status);
  }

  #learn(seeker: Seeker, status: ClaimStatus | undefined): void {
    const waits = status?.state === 'waiting';
    seeker.askAt = waits ? this.#parts.clock.now() + status.retryInMs : 0;
    seeker.known = waits ? `waiting ${status.ahead}` : (status?.state ?? 'gone');
    if (waits) return this.#plan(seeker, status);
    seeker.since = undefined;
    seeker.dueAt = Number.POSITIVE_INFINITY;
  }
}
