/**
 * Claims that enter their queues: one transaction each, many of them in one request.
 *
 * A claim's key has its id, so a claim that is sent twice is one; its tombstone, if it has one,
 * keeps it out. A queueing claim reads the claims before it and writes its key; if it is refused,
 * which is rare, it asks why. A try writes nothing unless it is admitted: first if the queue is
 * empty; then, having read the queue, if it fits and nothing was written since. Departures
 * meanwhile do no harm. Each compares the mark of its lease (lease.ts), and is sent again when that
 * was written meanwhile.
 */
import { isLockError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import type { Claim, ClaimStatus, GoneStatus, Kind } from '../../contract/store.ts';
import type { Answer, Compare, Operation, Reply, Txn } from './client.ts';
import { isLeaseGone, leaseGone } from './errors.ts';
import { epitaph } from './graves.ts';
import type { Lease } from './lease.ts';
import type { OwnClaim } from './own-claim.ts';
import type { Parts } from './parts.ts';
import { type Place, placeOf, QueueView, textOf } from './queue.ts';
import { firstIn, reading, readQueue, viewIn } from './reading.ts';
import { errorStatus, standing } from './standing.ts';
import { apart, type Outcome, together } from './together.ts';

/** How often others may come before a try. */
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

interface Entered {
  /** The queue before it. */
  readonly before: Answer | undefined;
  /** Of its own key. */
  readonly number: bigint;
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
    // A copy keeps the place of the first.
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
    return {
      compare: queue ? absent : [...absent, this.#undisturbed()],
      success: [
        reading(keys, resource, kind),
        { put: { key, value: textOf(this.#claim), lease: lease.id } },
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
      { range: { key: keys.grave(id) } },
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
    if (!this.#parts.own.find(this.#claim.id)) return { state: 'gone', why: 'unknown' };
    if (succeeded) return this.#entered({ before: answers[0], number: reply.revision }, sentAt);
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
    // The reason has gone before it asked.
    if (queue) return this.#tryAgain(undefined);
    if (!view.admits(this.#claim)) {
      return this.#leave(view.misfit(this.#claim.kind, this.own.key) ?? REFUSED);
    }
    return this.#tryAgain(reply.revision);
  }

  /** The key is there; it may have to leave again. */
  async #entered({ before, number }: Entered, sentAt: number): Promise<ClaimStatus> {
    const { client, keys, maxWaiters } = this.#parts;
    const { key } = this.own;
    const { resource, kind } = this.#claim;
    const seen = before && viewIn(before, { keys, resource, kind });
    let view = seen ? this.#behind(seen, number) : await this.#view(undefined, undefined);
    // One of them may be the note.
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

  /** The claims before, and this one at their end. */
  #behind({ places, total, ended }: QueueView, number: bigint): QueueView {
    const { kind, permits, limit, ttlMs, holder } = this.#claim;
    const { key, lease } = this.own;
    if (places.length < total) return new QueueView(places, total + 1, ended);
    const own: Place = {
      key,
      number,
      lease: lease.id,
      admitted: false,
      kind,
      permits,
      limit,
      holder,
      ttlMs,
      lastsMs: ttlMs,
      sealed: undefined,
      foreign: false,
    };
    return new QueueView([...places, own], total + 1, ended);
  }

  async #tryAgain(revision: bigint | undefined): Promise<ClaimStatus> {
    if (++this.#tries > MOST_TRIES) throw tooBusy();
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
  const message = 'Other claims kept coming in before this try.';
  return new StoreError(message, { retryable: true, outcome: 'failed' });
}
