/**
 * One of the stores of a quorum: requests of the same moment to the same part of it travel
 * together, and each waits for a share of its TTL at most.
 *
 * Unlike in core's batchers, requests do not queue behind one another: a member that hangs must not
 * hold up later ones. Every request ends, at the latest as an error of unknown outcome, so a poll
 * need not look at the clock. A failed release is repeated until the TTL has ended the vote,
 * because a vote that is left behind keeps all others waiting for that long.
 */
import type { Soon } from '../../base/answer.ts';
import { type Clock, timers } from '../../base/clock.ts';
import { type StoreError, toStoreError } from '../../contract/errors.ts';
import {
  type Claim,
  type ClaimStatus,
  MAX_BATCH,
  type Store,
  type Wake,
} from '../../contract/store.ts';
import { checkBoolean, checkReplies, checkStatus, partOf } from '../../store-calls/replies.ts';
import { TimeLimits } from '../../store-calls/time-limit.ts';

/** A member's time limit is the TTL divided by this: core waits a third, for two rounds. */
export const PATIENCES_PER_TTL = 10;

/** The time limit of a question about no claim, in ms. */
const LOOK_MS = 1_000;

type MemberVerb = 'claim' | 'renew' | 'raise' | 'release';

interface MemberRequest {
  readonly claim: Claim;
  readonly number: bigint;
  readonly settle: (answer: unknown) => void;
  readonly fail: (error: StoreError) => void;
}

type MemberCall = (batch: readonly MemberRequest[]) => Promise<readonly unknown[]>;

export class MemberStore {
  readonly store: Store;
  /** Parts that failed: no claim waits for them again until they reply. */
  readonly #suspects = new Set<string>();
  /** Until when parts grant nothing, as last known, because they lost their memory. */
  readonly #quarantines = new Map<string, number>();
  readonly #clock: Clock;
  readonly #patienceMs: number | undefined;
  readonly #pending = new Map<string, MemberRequest[]>();
  readonly #limits: TimeLimits;

  /** @param patienceMs overrides the share of the TTL. */
  constructor(store: Store, clock: Clock, patienceMs?: number) {
    this.store = store;
    this.#clock = clock;
    this.#patienceMs = patienceMs;
    this.#limits = new TimeLimits(store, clock);
  }

  /** As last known, it replies about this resource, and has not lost its memory. */
  serves(resource: string, now: number): boolean {
    const part = partOf(this.store, resource);
    const quarantinedUntil = this.#quarantines.get(part) ?? Number.NEGATIVE_INFINITY;
    return !this.#suspects.has(part) && quarantinedUntil <= now;
  }

  suspect(resource: string): void {
    this.#suspects.add(partOf(this.store, resource));
  }

  /** Never rejects. */
  async ask(verb: 'claim' | 'renew' | 'raise', claim: Claim, number = 0n): Promise<ClaimStatus> {
    const status = await this.#send(verb, claim, { number })
      .then((answer) => checkStatus(answer as ClaimStatus))
      .catch((error: StoreError): ClaimStatus => ({ state: 'error', error }));
    const part = partOf(this.store, claim.resource);
    if (status.state === 'error') this.#suspects.add(part);
    else this.#suspects.delete(part);
    if (status.state === 'waiting' && status.why === 'data-loss') {
      this.#quarantines.set(part, this.#clock.now() + status.retryInMs);
    }
    return status;
  }

  /** Gives a vote back; if that fails, again and again in the background. */
  async release(claim: Claim, afterMs = 0): Promise<boolean> {
    try {
      return checkBoolean((await this.#send('release', claim, { afterMs })) as boolean);
    } catch (error) {
      this.#repeat({ ...claim, unanswered: true }, afterMs);
      throw error;
    }
  }

  /** Without hints, a change in a member shows only by asking it. Never rejects. */
  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable | undefined> {
    const { watch } = this.store;
    if (!watch) return undefined;
    const watching = this.within(() => watch.call(this.store, claim, wake), claim.ttlMs);
    return watching.catch(() => undefined);
  }

  /** @param ttlMs a share of it is the time limit; default for questions about no claim. */
  within<T>(verb: () => Soon<T>, ttlMs: number = LOOK_MS * PATIENCES_PER_TTL): Promise<T> {
    return this.#limits.ask(verb, this.#patienceMs ?? ttlMs / PATIENCES_PER_TTL);
  }

  #send(
    verb: MemberVerb,
    claim: Claim,
    { number = 0n, afterMs = 0 }: { readonly number?: bigint; readonly afterMs?: number },
  ): Promise<unknown> {
    return new Promise((settle, fail) => {
      const key = `${verb} ${afterMs} ${partOf(this.store, claim.resource)}`;
      const request = { claim, number, settle, fail };
      const waiting = this.#pending.get(key);
      if (waiting) return void waiting.push(request);
      this.#pending.set(key, [request]);
      timers.queueMicrotask(() => this.#flush(key, this.#callOf(verb, afterMs)));
    });
  }

  #flush(key: string, call: MemberCall): void {
    let left = this.#pending.get(key) ?? [];
    this.#pending.delete(key);
    while (left.length > 0) {
      const batch = new Map<string, MemberRequest>();
      left = left.filter((request) => {
        if (batch.size === MAX_BATCH || batch.has(request.claim.resource)) return true;
        batch.set(request.claim.resource, request);
        return false;
      });
      const sorted = [...batch].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
      void this.#deliver(sorted, call);
    }
  }

  /** Never rejects. */
  async #deliver(batch: readonly MemberRequest[], call: MemberCall): Promise<void> {
    try {
      const ttlMs = Math.min(...batch.map(({ claim }) => claim.ttlMs));
      const answers = await this.within(() => call(batch), ttlMs);
      const checked = checkReplies(answers, batch.length, (answer) => answer);
      batch.forEach((request, i) => request.settle(checked[i]));
    } catch (cause) {
      const error = toStoreError(cause);
      const alone = batch.length === 1 || error.retryable || error.outcome === 'unknown';
      // One request may be the cause, so each is sent alone.
      for (const request of batch) {
        if (alone) request.fail(error);
        else void this.#deliver([request], call);
      }
    }
  }

  #callOf(verb: MemberVerb, afterMs: number): MemberCall {
    const { store } = this;
    const after = afterMs > 0 ? { ms: afterMs } : undefined;
    return (batch) => {
      const claims = batch.map(({ claim }) => claim);
      if (verb === 'release') return store.release(claims, after);
      if (verb !== 'raise') return store[verb](claims);
      const numbers = batch.map(({ number }) => number);
      return store.raise?.(claims, numbers) ?? Promise.resolve([]);
    };
  }

  #repeat(claim: Claim, afterMs: number): void {
    const clock = this.#clock;
    const until = clock.now() + Math.max(claim.ttlMs, afterMs);
    const pauseMs = claim.ttlMs / PATIENCES_PER_TTL;
    const again = (): void => {
      if (clock.now() >= until) return;
      this.#send('release', claim, { afterMs }).catch(() => {
        clock.setTimeout(again, pauseMs).unref();
      });
    };
    clock.setTimeout(again, pauseMs).unref();
  }
}
