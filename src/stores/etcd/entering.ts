/**
 * Claims that enter their queues: one transaction each, many of them in one request.
 *
 * A claim's key has its id, so a claim that is sent twice is one; its tombstone, if it has one,
 * keeps it out. Who queues writes its key and reads who is before it. Who only tries writes nothing
 * unless it is admitted: the first time if there is nobody at all; then, having seen who is there,
 * if it fits and nothing was written since. Departures meanwhile do no harm. Each is compared with
 * the mark of its lease (leases.ts), and sent again when that was written meanwhile.
 */
import { isLockError, StoreError } from '../../errors.ts';
import type { Claim, ClaimStatus, GoneStatus, Kind } from '../../store.ts';
import type { Answer, Compare, Reply, Txn } from './client.ts';
import { isLeaseGone, leaseGone } from './errors.ts';
import { epitaph } from './graves.ts';
import type { Lease } from './leases.ts';
import type { OwnClaim } from './own-claim.ts';
import type { Parts } from './parts.ts';
import { placeOf, type QueueView, textOf } from './queue.ts';
import { firstIn, reading, readQueue, viewIn } from './reading.ts';
import { errorStatus, standing } from './standing.ts';
import { apart, type Outcome, together } from './together.ts';

/** So often a try may see others come before it. */
const MOST_TRIES = 8;

const REFUSED: GoneStatus = { state: 'gone', why: 'refused' };

/** Claims of different resources, with one ttl. */
export async function enterAll(parts: Parts, claims: readonly Claim[]): Promise<ClaimStatus[]> {
  const ttlMs = Math.max(...claims.map((claim) => claim.ttlMs));
  for (let again = false; ; again = true) {
    const lease = await parts.leases.lend(ttlMs);
    const sentAt = parts.clock.now();
    const entries = claims.map((claim) => new Entry(parts, claim, lease));
    try {
      const reply = await sent(parts, entries);
      const outcomes = apart(reply, entries.length);
      for (const [i, entry] of entries.entries()) entry.checkLease(outcomes[i]);
      return await Promise.all(
        entries.map((entry, i) => entry.settle(outcomes[i], reply, sentAt).catch(errorStatus)),
      );
    } catch (error) {
      if (again || !isLeaseGone(error)) throw error;
      await parts.leases.bury(lease, ttlMs);
      for (const { own } of entries) parts.own.forget(own);
    }
  }
}

/** Without an answer, they may be carried out at any time. */
async function sent({ client }: Parts, entries: readonly Entry[]): Promise<Reply> {
  try {
    return await client.txn(together(entries.map((entry) => entry.txn())));
  } catch (error) {
    const failed = isLockError(error, 'STORE') && (error as StoreError).outcome === 'failed';
    if (!failed) for (const { own } of entries) own.lease.doubt(own.claim.id, own);
    throw error;
  }
}

class Entry {
  readonly own: OwnClaim;
  readonly #parts: Parts;
  readonly #claim: Claim;
  #seenAt: bigint | undefined;
  /** That of its lease, as it was sent. */
  #mark = 0n;
  #tries = 0;

  constructor(parts: Parts, claim: Claim, lease: Lease) {
    this.#parts = parts;
    this.#claim = claim;
    // One that is sent again is where it was.
    this.own = parts.own.find(claim.id) ?? parts.own.add(claim, lease);
  }

  txn(): Txn {
    const { keys } = this.#parts;
    const { resource, id, kind, queue } = this.#claim;
    const { key, lease } = this.own;
    const grave = keys.grave(id);
    this.#mark = lease.mark;
    const absent: Compare[] = [
      { target: 'create', is: '=', key, to: 0n },
      { target: 'version', is: '=', key: grave, to: 0n },
      { target: 'mod', is: '=', key: lease.markKey, to: this.#mark },
    ];
    const read = reading(keys, resource, kind);
    return {
      compare: queue ? absent : [...absent, this.#undisturbed()],
      success: [{ put: { key, value: textOf(this.#claim), lease: lease.id } }, read],
      failure: [
        ...[{ range: { key } }, { range: { key: grave } }],
        ...[queue ? read : reading(keys, resource), { range: { key: lease.markKey } }],
      ],
    };
  }

  /** The mark lives as long as the lease. */
  checkLease(outcome: Outcome | undefined): void {
    if (outcome?.succeeded || this.#mark === 0n || this.#markIn(outcome) > 0n) return;
    throw leaseGone();
  }

  #markIn(outcome: Outcome | undefined): bigint {
    return firstIn(outcome?.answers[3])?.modRevision ?? 0n;
  }

  async settle(outcome: Outcome | undefined, reply: Reply, sentAt: number): Promise<ClaimStatus> {
    const { answers = [], succeeded = false } = outcome ?? {};
    // Released meanwhile, which has the last word.
    if (!this.#parts.own.find(this.#claim.id)) return { state: 'gone', why: 'unknown' };
    if (succeeded) return this.#entered(answers[1], sentAt);
    const [kv, grave] = [firstIn(answers[0]), firstIn(answers[1])];
    const { kind, queue } = this.#claim;
    const view = await this.#view(answers[2], queue ? kind : undefined);
    if (kv) return standing(this.#parts, { claim: this.#claim, place: placeOf(kv), view, sentAt });
    if (grave) return this.#leave(epitaph(grave));
    const mark = this.#markIn(outcome);
    if (mark !== this.#mark) {
      this.own.lease.marked(mark);
      return this.#tryAgain(this.#seenAt);
    }
    if (!view.admits(this.#claim)) {
      return this.#leave(view.misfit(this.#claim.kind, this.own.key) ?? REFUSED);
    }
    return this.#tryAgain(reply.revision);
  }

  /** The key is there; it may not be allowed to stay. */
  async #entered(answer: Answer | undefined, sentAt: number): Promise<ClaimStatus> {
    const { client, maxWaiters } = this.#parts;
    const { key } = this.own;
    let view = await this.#view(answer, this.#claim.kind);
    // One too many may be the note.
    if (view.waiters > maxWaiters) view = await this.#view(undefined, undefined);
    const place = view.places[view.find(key)];
    const waits = !place || view.find(key) >= view.admitted;
    const full: GoneStatus = { state: 'gone', why: 'full', detail: `maxWaiters is ${maxWaiters}` };
    const unfit =
      view.misfit(this.#claim.kind, key) ?? (waits && view.waiters > maxWaiters ? full : undefined);
    if (!unfit) return standing(this.#parts, { claim: this.#claim, place, view, sentAt });
    await client.txn({ success: [{ delete: { key } }] });
    return this.#leave(unfit);
  }

  async #tryAgain(revision: bigint | undefined): Promise<ClaimStatus> {
    if (++this.#tries > MOST_TRIES) throw tooBusy();
    this.#seenAt = revision;
    const sentAt = this.#parts.clock.now();
    const reply = await sent(this.#parts, [this]);
    this.checkLease(reply);
    return this.settle(reply, reply, sentAt);
  }

  /** Nothing is there, or nothing new. */
  #undisturbed(): Compare {
    const claims = this.#parts.keys.claims(this.#claim.resource);
    if (this.#seenAt === undefined) return { target: 'create', is: '=', ...claims, to: 0n };
    return { target: 'mod', is: '<', ...claims, to: this.#seenAt + 1n };
  }

  /** As it was told if that is enough, otherwise as it is now. */
  async #view(answer: Answer | undefined, kind: Kind | undefined): Promise<QueueView> {
    const { client, keys } = this.#parts;
    const { resource } = this.#claim;
    const view = answer && viewIn(answer, { keys, resource, kind });
    return view ?? (await readQueue(client, keys, resource)).view;
  }

  #leave(status: GoneStatus): GoneStatus {
    this.#parts.own.forget(this.own);
    return status;
  }
}

function tooBusy(): StoreError {
  const message = 'Others came before this try again and again.';
  return new StoreError(message, { retryable: true, outcome: 'failed' });
}
