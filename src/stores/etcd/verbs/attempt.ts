/**
 * How one claim enters its queue.
 *
 * A claim's key has its id, so a claim that is sent twice is one; its tombstone, if it has one,
 * keeps it out. A queueing claim writes its key and reads the queue; if it is refused, which is
 * rare, it asks why. It reads nothing where that would tell nothing new: a mutex or a writer first
 * enters on the condition that nothing is there, and where this process follows the queue (see
 * following.ts) and the claim will wait, the watch tells its place. A try writes nothing unless it
 * is admitted: first if the queue is empty; then, having read the queue, if it fits and nothing was
 * written since. Departures meanwhile do no harm. Each compares the mark of its lease (lease.ts),
 * and is sent again when that was written meanwhile. Tries that enter together have one
 * transaction, with the conditions of all.
 */
import { type Answer, follow, type Soon } from '../../../base/answer.ts';
import { isLockError } from '../../../base/errors.ts';
import type {
  Compare,
  Operation,
  OperationAnswer,
  Txn,
  TxnAnswer,
} from '../../../clients/etcd/client.ts';
import { leaseGone } from '../../../clients/etcd/errors.ts';
import { type StoreError, temporaryFailure } from '../../../contract/errors.ts';
import { full, REFUSED, UNKNOWN } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus, GoneStatus, Kind } from '../../../contract/store.ts';
import { MOST_TRIES } from '../../consensus/terms.ts';
import type { QueueWatch } from '../following.ts';
import type { EtcdLease } from '../lease.ts';
import type { EtcdClaim } from '../own-claim.ts';
import type { EtcdParts } from '../own-claims.ts';
import { type EtcdView, isOf, newPlace, placeOf, textOf } from '../places.ts';
import { firstIn, isExclusive, queueIn, reading, viewOf } from '../reading.ts';
import { sendTogether, type TogetherReply } from '../together.ts';
import { epitaph, standing } from './standing.ts';

export const OVERTAKEN = 'Other claims kept coming in before this try.';

/**
 * How a claim learns its place: by reading the queue in the same step; from the watch, if that
 * shows that it will wait; or by the condition that nothing is there.
 */
type ClaimWay = 'reading' | 'alone' | QueueWatch;

/** Undefined if it is to be sent again. */
type Learned = ClaimStatus | undefined;

export class ClaimAttempt {
  readonly own: EtcdClaim;
  way: ClaimWay = 'reading';
  readonly #parts: EtcdParts;
  readonly #claim: Claim;
  #seenAt: bigint | undefined;
  /** That of its lease, as it was sent. */
  #mark = 0n;
  #tries = 0;

  constructor(parts: EtcdParts, claim: Claim, lease: EtcdLease) {
    this.#parts = parts;
    this.#claim = claim;
    // A copy keeps the place of the first.
    const known = parts.own.find(claim);
    this.own = known ?? parts.own.add(claim, lease);
    if (claim.queue && !known) this.way = this.#shortest();
  }

  #shortest(): ClaimWay {
    const watch = this.#parts.own.watchOf(this.#claim.resource);
    const view = watch?.view;
    if (watch && view && !view.admits(this.#claim)) return watch;
    return isExclusive(this.#claim.kind) ? 'alone' : 'reading';
  }

  txn(): Txn {
    const { keys } = this.#parts;
    const { resource, id, kind, queue } = this.#claim;
    const { key, lease } = this.own;
    const tombstone = keys.tombstone(id);
    this.#mark = lease.mark;
    const room = this.way === 'alone' ? keys.queue(resource) : { key };
    const absent: Compare[] = [
      { target: 'create', is: '=', ...room, to: 0n },
      { target: 'version', is: '=', key: tombstone, to: 0n },
      { target: 'mod', is: '=', key: lease.markKey, to: this.#mark },
    ];
    return {
      compare: queue ? absent : [...absent, this.#undisturbed()],
      success: [
        { put: { key, value: textOf(this.#claim), lease: lease.id } },
        ...(this.way === 'reading' ? [reading(keys, resource, kind)] : []),
      ],
      failure: queue ? [] : this.reasons,
    };
  }

  /** Whether a refused claim asks for the reasons separately. */
  get asks(): boolean {
    return this.#claim.queue && this.way !== 'alone';
  }

  /** Whether its queue was not empty, as it took it to be. */
  meets(outcome: TxnAnswer | undefined): boolean {
    return this.way === 'alone' && outcome?.succeeded !== true;
  }

  get reasons(): Operation[] {
    const { keys } = this.#parts;
    const { resource, id, kind, queue } = this.#claim;
    return [
      { range: { key: this.own.key } },
      { range: { key: keys.tombstone(id) } },
      reading(keys, resource, queue ? kind : undefined),
      { range: { key: this.own.lease.markKey } },
    ];
  }

  /** Without its mark, the lease is dead. */
  checkLease(outcome: TxnAnswer | undefined): void {
    const fine = outcome?.succeeded || this.meets(outcome) || this.#mark === 0n;
    if (!fine && this.#markIn(outcome) === 0n) throw leaseGone();
  }

  #markIn(outcome: TxnAnswer | undefined): bigint {
    return firstIn(outcome?.answers[3])?.modRevision ?? 0n;
  }

  settle(outcome: TxnAnswer | undefined, revision: bigint, sentAt: number): Soon<ClaimStatus> {
    const learned = this.learn(outcome, revision, sentAt);
    return follow<Learned, ClaimStatus>(learned, (status) => status ?? this.#tryAgain());
  }

  learn(outcome: TxnAnswer | undefined, revision: bigint, sentAt: number): Soon<Learned> {
    const { answers = [], succeeded = false } = outcome ?? {};
    const joined = succeeded ? this.#joined(answers[1], revision) : undefined;
    return follow<EtcdView | undefined, Learned>(joined, (view) => {
      // Released meanwhile, which is final.
      if (!this.#parts.own.find(this.#claim)) return UNKNOWN;
      return view ? this.#entered(view, sentAt) : this.#refused(outcome, revision, sentAt);
    });
  }

  async #refused(outcome: TxnAnswer | undefined, at: bigint, sentAt: number): Promise<Learned> {
    const { answers = [] } = outcome ?? {};
    const [kv, tombstone] = [firstIn(answers[0]), firstIn(answers[1])];
    const { kind, queue } = this.#claim;
    const view = await this.#view(answers[2], queue ? kind : undefined);
    const place = kv && placeOf(kv);
    if (place && isOf(place, this.#claim.id)) {
      return standing(this.#parts, { claim: this.#claim, place, view, sentAt });
    }
    if (place || tombstone) return this.leave(epitaph(tombstone));
    const mark = this.#markIn(outcome);
    if (mark !== this.#mark) {
      this.own.lease.marked(mark);
      return undefined;
    }
    // The reason has gone before it asked.
    if (queue) return undefined;
    if (!view.admits(this.#claim)) return this.leave(view.misfit(this.#claim.kind) ?? REFUSED);
    this.#seenAt = at;
    return undefined;
  }

  /** The queue with this claim in it. */
  #joined(answer: OperationAnswer | undefined, revision: bigint): Soon<EtcdView> {
    const { client, keys } = this.#parts;
    const { resource, kind } = this.#claim;
    const { key, lease } = this.own;
    if (this.way === 'reading') return this.#view(answer, kind);
    if (this.way === 'alone') {
      return viewOf([newPlace(this.#claim, { id: key, number: revision, lease: lease.id })], 1);
    }
    return this.way.viewWith(key).then(async (view) => {
      // If it is admitted after all, the note tells how the hold before it ended.
      if (view && !view.holds(key)) return view;
      const { answers } = await client.txn({ success: [reading(keys, resource, kind)] });
      return this.#view(answers[0], kind);
    });
  }

  /** The key is there; it may have to leave again. */
  #entered(seen: EtcdView, sentAt: number): Soon<ClaimStatus> {
    const { client, maxWaiters } = this.#parts;
    const { key } = this.own;
    // One of them may be the note.
    const whole = seen.waiters > maxWaiters ? this.#view(undefined, undefined) : seen;
    return follow<EtcdView, ClaimStatus>(whole, (view) => {
      const place = view.at(key);
      // By its own place: those behind it do not count.
      const ahead = view.find(key) - view.admitted;
      const unfit =
        view.misfit(this.#claim.kind) ?? (ahead >= maxWaiters ? full(maxWaiters) : undefined);
      if (!unfit) return standing(this.#parts, { claim: this.#claim, place, view, sentAt });
      return client.txn({ success: [{ delete: { key } }] }).then(() => this.leave(unfit));
    });
  }

  async #tryAgain(): Promise<ClaimStatus> {
    if (++this.#tries > MOST_TRIES) throw temporaryFailure(OVERTAKEN);
    const sentAt = this.#parts.clock.now();
    const { outcomes, revision: at } = await sent(this.#parts, [this]);
    this.checkLease(outcomes[0]);
    return this.settle(outcomes[0], at, sentAt);
  }

  /** The queue is empty, or unchanged. */
  #undisturbed(): Compare {
    const claims = this.#parts.keys.claims(this.#claim.resource);
    if (this.#seenAt === undefined) return { target: 'create', is: '=', ...claims, to: 0n };
    return { target: 'mod', is: '<', ...claims, to: this.#seenAt + 1n };
  }

  #view(answer: OperationAnswer | undefined, kind: Kind | undefined): Soon<EtcdView> {
    return queueIn(this.#parts, answer, { resource: this.#claim.resource, kind });
  }

  /** It has no key, or none any more. */
  leave(status: GoneStatus): GoneStatus {
    this.#parts.own.forget(this.own);
    return status;
  }
}

/**
 * Sends them in one request, and asks for the reasons of refused ones that lack them. Without a
 * reply, they may be carried out at any time.
 */
export function sent(
  { client }: EtcdParts,
  entries: readonly ClaimAttempt[],
  send: typeof sendTogether = sendTogether,
): Answer<TogetherReply> {
  const txns = entries.map((entry) => entry.txn());
  const replied = send(client, txns).or((error): never => {
    const failed = isLockError(error, 'STORE') && (error as StoreError).outcome === 'failed';
    if (!failed) for (const { own } of entries) own.lease.doubt(own.claim.id, own);
    throw error;
  });
  return replied.chain((reply): Soon<TogetherReply> => {
    const { revision, outcomes } = reply;
    const asking = entries.filter(({ asks }, i) => asks && !outcomes[i]?.succeeded);
    if (asking.length === 0) return reply;
    const questions = asking.map((entry) => ({ success: entry.reasons }));
    return sendTogether(client, questions).map((replies) => {
      const explained = outcomes.map((outcome, i) => {
        const { answers } = replies.outcomes[asking.indexOf(entries[i] as ClaimAttempt)] ?? outcome;
        return { succeeded: outcome.succeeded, answers };
      });
      return { revision, outcomes: explained };
    });
  });
}
