/**
 * Newest wins: of several requests for the same work, only the last one matters.
 *
 * A place in the queue is the token, so no claim passes another. Instead a claim with `ifBusy` that
 * has to wait looks at the queue, and evicts the earlier claims with such a mark: those that wait
 * leave, and with `replace` those that hold take no more heartbeats, so they end by their release
 * or with their TTL, and their holders are told in time. All other claims are waited for.
 * Invariant: none replaces the last to come, because each claim evicts only those before its own
 * place; and one whose turn has come meanwhile is not evicted as a waiter (`Eviction.waiting`). As
 * a queue grows at its end only, a claim looks again only after a failure, or if such a turn came;
 * then after a while, so that a store which never ends one of them is not asked all the time.
 * A newcomer that dies has replaced some of them, or none.
 * What would break it: a claim that is made again after it lost its place, for then it would
 * replace newer ones; two claims with one mark.
 */
import { randomId } from '../base/random-id.ts';
import type { Claim, ClaimStatus, Eviction, Member } from '../contract/store.ts';
import type { Caller, Sender } from '../store-calls/batcher.ts';
import { checkBoolean, checkQueue } from '../store-calls/replies.ts';
import { TRIES_PER_TTL } from '../store-calls/time-limit.ts';
import { REPLACED } from './errors.ts';
import type { Services } from './services.ts';

/** Which earlier claims with a mark it ends: those that wait, or also those that hold. */
export type IfBusy = 'replace-waiting' | 'replace';

const REPLACEABLE = 'replaceable ';

/** Sends a claim with a mark, which replaces earlier ones once it is known to wait. */
export class Newest implements Sender<ClaimStatus> {
  readonly #services: Pick<Services, 'calls' | 'clock'>;
  readonly #ifBusy: IfBusy;
  readonly #mark = `${REPLACEABLE}${randomId()}`;

  constructor(services: Pick<Services, 'calls' | 'clock'>, ifBusy: IfBusy) {
    this.#services = services;
    this.#ifBusy = ifBusy;
  }

  send(given: Claim, caller: Caller<ClaimStatus>): void {
    const claim = { ...given, holder: { ...given.holder, mark: this.#mark } };
    const isWanted = (): boolean => caller.wanted !== false;
    this.#services.calls.claim.send(claim, {
      get wanted() {
        return isWanted();
      },
      settle: (status, error, sentAt) => {
        if (status?.state === 'waiting') void this.#replace(claim, isWanted);
        caller.settle(status, error, sentAt);
      },
    });
  }

  /** Never rejects. */
  async #replace(claim: Claim, isWanted: () => boolean): Promise<void> {
    const { clock } = this.#services;
    const pauseMs = claim.ttlMs / TRIES_PER_TTL;
    while (isWanted() && !(await this.#evictOlder(claim).catch(() => false))) {
      await new Promise<void>((again) => clock.setTimeout(again, pauseMs).unref());
    }
  }

  /** False if one of them has not been ended. @throws StoreError */
  async #evictOlder(claim: Claim): Promise<boolean> {
    const { calls } = this.#services;
    const { resource } = claim;
    const evict = calls.verb('evict');
    const queue = await calls.ask(() => calls.store.inspect(resource), checkQueue, claim);
    const own = queue.waiters.findIndex(({ holder }) => holder.mark === this.#mark);
    if (own < 0) return true;
    const end = (members: readonly Member[], waiting: boolean): readonly Promise<boolean>[] =>
      members.filter(isReplaceable).map(({ number }) => {
        const eviction: Eviction = { reason: REPLACED, now: false, waiting };
        return calls.ask(() => evict(resource, number, eviction), checkBoolean, claim);
      });
    const held = this.#ifBusy === 'replace' ? end(queue.holders, false) : [];
    const ended = await Promise.all([...held, ...end(queue.waiters.slice(0, own), true)]);
    return ended.every(Boolean);
  }
}

/** A newer claim may replace it. */
function isReplaceable({ holder }: Member): boolean {
  return holder.mark?.startsWith(REPLACEABLE) === true;
}
