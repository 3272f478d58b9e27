/**
 * Claims that enter their queues: one transaction each, many of them in one request.
 *
 * A claim's key has its id, so a claim that is sent twice is one; its tombstone, if it has one,
 * keeps it out. A queueing claim writes its key and reads the queue; if it is refused, which is
 * rare, it asks why. A try writes nothing unless it is admitted: first if the queue is
 * empty; then, having read the queue, if it fits and nothing was written since. Departures
 * meanwhile do no harm. Each compares the mark of its lease (lease.ts), and is sent again when that
 * was written meanwhile.
 */
import { isLockError } from '../../../base/errors.ts';
import type { Answer, Compare, Operation, Reply, Txn } from '../../../clients/etcd/client.ts';
import { isLeaseGone, leaseGone } from '../../../clients/etcd/errors.ts';
import type { StoreError } from '../../../contract/errors.ts';
import { full, REFUSED, UNKNOWN } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus, GoneStatus, Kind } from '../../../contract/store.ts';
import { MOST_TRIES, tooBusy } from '../../consensus/outcomes.ts';
import { errorStatus } from '../../each.ts';
import type { Lease } from '../lease.ts';
import type { EtcdClaim } from '../own-claim.ts';
import { placeOf, textOf, type View } from '../places.ts';
import { firstIn, reading, readQueue, viewIn } from '../reading.ts';
import { apart, type Outcome, together } from '../together.ts';
import type { Parts } from './parts.ts';
import { standing } from './standing.ts';
import { epitaph } from './tombstones.ts';

/** Claims of different resources, with one ttl. */
export async function enterAll(parts: Parts, claims: readonly Claim[]): Promise<ClaimStatus[]> {
  const ttlMs = Math.max(...claims.map((claim) => claim.ttlMs));
  for (let again = false; ; again = true) {
    const lease = await parts.leases.lend(ttlMs);
    const sentAt = parts.clock.now();
    const entries = claims.map((claim) => new Entry(parts, claim, lease));
    try {
      const reply = await sent(parts, entries);
      const outcomes = await explained(parts, {
        entries,
        outcomes: apart(reply, entries.length),
      });
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

interface Tried {
  readonly entries: readonly Entry[];
  readonly outcomes: readonly Outcome[];
}

/** Asks for the reasons of refused claims that lack them. */
async function explained(
  { client }: Parts,
  { entries, outcomes }: Tried,
): Promise<readonly Outcome[]> {
  const asking = entries.filter(({ asks }, i) => asks && !outcomes[i]?.succeeded);
  if (asking.length === 0) return outcomes;
  const reply = await client.txn(together(asking.map((entry) => ({ success: entry.reasons }))));
  const told = apart(reply, asking.length);
  return outcomes.map((outcome, i) => {
    const { answers } = told[asking.indexOf(entries[i] as Entry)] ?? outcome;
    return { succeeded: outcome.succeeded, answers };
  });
}

/** Without a reply, they may be carried out at any time. */
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
  readonly own: EtcdClaim;
  readonly #parts: Parts;
  readonly #claim: Claim;
  #seenAt: bigint | undefined;
  /** That of its lease, as it was sent. */
  #mark = 0n;
  #tries = 0;

  constructor(parts: Parts, claim: Claim, lease: Lease) {
    this.#parts = parts;
    this.#claim = claim;
    // A copy keeps the place of the first.
    this.own = parts.own.find(claim) ?? parts.own.add(claim, lease);
  }

  txn(): Txn {
    const { keys } = this.#parts;
    const { resource, id, kind, queue } = this.#claim;
    const { key, lease } = this.own;
    const tombstone = keys.tombstone(id);
    this.#mark = lease.mark;
    const absent: Compare[] = [
      { target: 'create', is: '=', key, to: 0n },
      { target: 'version', is: '=', key: tombstone, to: 0n },
      { target: 'mod', is: '=', key: lease.markKey, to: this.#mark },
    ];
    return {
      compare: queue ? absent : [...absent, this.#undisturbed()],
      success: [
        { put: { key, value: textOf(this.#claim), lease: lease.id } },
        reading(keys, resource, kind),
      ],
      failure: this.asks ? [] : this.reasons,
    };
  }

  /** Whether a refused claim asks for the reasons separately. */
  get asks(): boolean {
    return this.#claim.queue;
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
  checkLease(outcome: Outcome | undefined): void {
    if (outcome?.succeeded || this.#mark === 0n || this.#markIn(outcome) > 0n) return;
    throw leaseGone();
  }

  #markIn(outcome: Outcome | undefined): bigint {
    return firstIn(outcome?.answers[3])?.modRevision ?? 0n;
  }

  async settle(outcome: Outcome | undefined, reply: Reply, sentAt: number): Promise<ClaimStatus> {
    const { answers = [], succeeded = false } = outcome ?? {};
    // Released meanwhile, which is final.
    if (!this.#parts.own.find(this.#claim)) return UNKNOWN;
    if (succeeded) return this.#entered(answers[1], sentAt);
    const [kv, tombstone] = [firstIn(answers[0]), firstIn(answers[1])];
    const { kind, queue } = this.#claim;
    const view = await this.#view(answers[2], queue ? kind : undefined);
    if (kv) return standing(this.#parts, { claim: this.#claim, place: placeOf(kv), view, sentAt });
    if (tombstone) return this.#leave(epitaph(tombstone));
    const mark = this.#markIn(outcome);
    if (mark !== this.#mark) {
      this.own.lease.marked(mark);
      return this.#tryAgain(this.#seenAt);
    }
    // The reason has gone before it asked.
    if (queue) return this.#tryAgain(undefined);
    if (!view.admits(this.#claim)) {
      return this.#leave(view.misfit(this.#claim.kind) ?? REFUSED);
    }
    return this.#tryAgain(reply.revision);
  }

  /** The key is there; it may have to leave again. */
  async #entered(answer: Answer | undefined, sentAt: number): Promise<ClaimStatus> {
    const { client, maxWaiters } = this.#parts;
    const { key } = this.own;
    let view = await this.#view(answer, this.#claim.kind);
    // One of them may be the note.
    if (view.waiters > maxWaiters) view = await this.#view(undefined, undefined);
    const place = view.at(key);
    const unfit =
      view.misfit(this.#claim.kind) ??
      (!view.holds(key) && view.waiters > maxWaiters ? full(maxWaiters) : undefined);
    if (!unfit) return standing(this.#parts, { claim: this.#claim, place, view, sentAt });
    await client.txn({ success: [{ delete: { key } }] });
    return this.#leave(unfit);
  }

  async #tryAgain(revision: bigint | undefined): Promise<ClaimStatus> {
    if (++this.#tries > MOST_TRIES) throw tooBusy('Other claims kept coming in before this try.');
    this.#seenAt = revision;
    const sentAt = this.#parts.clock.now();
    const reply = await sent(this.#parts, [this]);
    const [outcome] = await explained(this.#parts, { entries: [this], outcomes: [reply] });
    this.checkLease(outcome);
    return this.settle(outcome, reply, sentAt);
  }

  /** The queue is empty, or unchanged. */
  #undisturbed(): Compare {
    const claims = this.#parts.keys.claims(this.#claim.resource);
    if (this.#seenAt === undefined) return { target: 'create', is: '=', ...claims, to: 0n };
    return { target: 'mod', is: '<', ...claims, to: this.#seenAt + 1n };
  }

  /** From the reply if that is enough, otherwise read now. */
  async #view(answer: Answer | undefined, kind: Kind | undefined): Promise<View> {
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
