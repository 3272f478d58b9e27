/**
 * Claims that enter their queues: one transaction each, many of them in one request.
 *
 * A claim's key has its id, so a claim that is sent twice is one; its tombstone, if it has one,
 * keeps it out. A queueing claim writes its key and reads the queue; if it is refused, which is
 * rare, it asks why. It skips the read where that would show nothing new: a mutex or a writer first
 * enters on the condition that the queue is empty, and where this process follows the queue (see
 * following.ts) and the claim will wait, the watch shows its place. A try writes nothing unless it
 * is admitted: first if the queue is empty; then, having read the queue, if it fits and nothing was
 * written since. Departures meanwhile do no harm. Each compares the mark of its lease (lease.ts),
 * and is sent again if that was written meanwhile.
 */
import { isLockError } from '../../../base/errors.ts';
import type { Answer, Compare, Operation, Reply, Txn } from '../../../clients/etcd/client.ts';
import { isLeaseGone, leaseGone } from '../../../clients/etcd/errors.ts';
import type { StoreError } from '../../../contract/errors.ts';
import { full, REFUSED, UNKNOWN } from '../../../contract/gone.ts';
import type { Claim, ClaimStatus, GoneStatus, Kind } from '../../../contract/store.ts';
import { MOST_TRIES, tooBusy } from '../../consensus/outcomes.ts';
import { errorStatus } from '../../each.ts';
import type { QueueWatch } from '../following.ts';
import type { Lease } from '../lease.ts';
import type { EtcdClaim } from '../own-claim.ts';
import { newPlace, placeOf, textOf, type View } from '../places.ts';
import { firstIn, isExclusive, reading, readQueue, viewIn, viewOf } from '../reading.ts';
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
      return await enter(parts, entries, sentAt);
    } catch (error) {
      if (again || !isLeaseGone(error)) throw error;
      await parts.leases.bury(lease, ttlMs);
      for (const { own } of entries) parts.own.forget(own);
    }
  }
}

/** @throws StoreError */
async function enter(
  parts: Parts,
  entries: readonly Entry[],
  sentAt: number,
): Promise<ClaimStatus[]> {
  const reply = await sent(parts, entries);
  const outcomes = await explained(parts, { entries, outcomes: apart(reply, entries.length) });
  const met = entries.filter((entry, i) => entry.meets(outcomes[i]));
  for (const [i, entry] of entries.entries()) entry.checkLease(outcomes[i]);
  const behind = met.length === 0 ? [] : await enterBehind(parts, met);
  return Promise.all(
    entries.map((entry, i) => {
      const status = behind[met.indexOf(entry)];
      return status ?? entry.settle(outcomes[i], reply, sentAt).catch(errorStatus);
    }),
  );
}

/** Those that took their queues for empty. */
async function enterBehind(parts: Parts, entries: readonly Entry[]): Promise<ClaimStatus[]> {
  for (const entry of entries) entry.way = 'reading';
  return enter(parts, entries, parts.clock.now()).catch((error: unknown) => {
    if (isLeaseGone(error)) throw error;
    return entries.map(() => errorStatus(error));
  });
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

/**
 * How a claim learns its place: by reading the queue in the same step; from the watch, if that
 * shows that it will wait; or by the condition that nothing is there.
 */
type Way = 'reading' | 'alone' | QueueWatch;

class Entry {
  readonly own: EtcdClaim;
  way: Way = 'reading';
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
    const known = parts.own.find(claim);
    this.own = known ?? parts.own.add(claim, lease);
    if (claim.queue && !known) this.way = this.#shortest();
  }

  #shortest(): Way {
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
  meets(outcome: Outcome | undefined): boolean {
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
  checkLease(outcome: Outcome | undefined): void {
    if (outcome?.succeeded || this.meets(outcome) || this.#mark === 0n) return;
    if (this.#markIn(outcome) > 0n) return;
    throw leaseGone();
  }

  #markIn(outcome: Outcome | undefined): bigint {
    return firstIn(outcome?.answers[3])?.modRevision ?? 0n;
  }

  async settle(outcome: Outcome | undefined, reply: Reply, sentAt: number): Promise<ClaimStatus> {
    const { answers = [], succeeded = false } = outcome ?? {};
    const joined = succeeded ? await this.#joined(answers[1], reply) : undefined;
    // Released meanwhile, which is final.
    if (!this.#parts.own.find(this.#claim)) return UNKNOWN;
    if (joined) return this.#entered(joined, sentAt);
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

  /** The queue with this claim in it. */
  async #joined(answer: Answer | undefined, { revision }: Reply): Promise<View> {
    const { client, keys } = this.#parts;
    const { resource, kind } = this.#claim;
    const { key, lease } = this.own;
    if (this.way === 'reading') return this.#view(answer, kind);
    if (this.way === 'alone') return viewOf([newPlace(this.#claim, { key, revision, lease })], 1);
    const view = await this.way.viewWith(key);
    // If it is admitted after all, the note tells how the hold before it ended.
    if (view && !view.holds(key)) return view;
    const { answers } = await client.txn({ success: [reading(keys, resource, kind)] });
    return this.#view(answers[0], kind);
  }

  /** The key is there; it may have to leave again. */
  async #entered(seen: View, sentAt: number): Promise<ClaimStatus> {
    const { client, maxWaiters } = this.#parts;
    const { key } = this.own;
    let view = seen;
    // One of them may be the note.
    if (view.waiters > maxWaiters) view = await this.#view(undefined, undefined);
    const place = view.at(key);
    // By its own place: those behind it do not count.
    const ahead = view.find(key) - view.admitted;
    const unfit =
      view.misfit(this.#claim.kind) ?? (ahead >= maxWaiters ? full(maxWaiters) : undefined);
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
