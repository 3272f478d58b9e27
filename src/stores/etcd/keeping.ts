/**
 * Records of finished work: each is a key in no queue, on a lease without heartbeats.
 *
 * Invariant: only a holder writes a record. Its transaction compares the create revision of the
 * claim's key, so the claim is still there, and the lease of that key, because a seal puts it on
 * another one. Whether it is admitted is known before: once it is, it stays so. A late copy finds
 * the key gone, and writes nothing.
 * A lease serves many records: it is granted for a tenth more than was asked for, and used as long
 * as it has enough left. So about a dozen leases live at a time for all records of about one
 * length, however many those are; each would otherwise cost a timer of the leader, and a write of
 * its own. A lease of days is one like any other; a new leader gives it its whole life again. So a
 * record may live longer than was asked for, by a sixth or by that, and never shorter: lengths are
 * rounded up, and a lease's life counts from before it was granted.
 * What would break it: a program that ends the leases of others.
 */
import type { Clock } from '../../base/clock.ts';
import type { Kept } from '../../contract/records.ts';
import type { Claim } from '../../contract/store.ts';
import type { Compare, EtcdClient, Operation } from './client.ts';
import { isLeaseGone } from './errors.ts';
import type { KeySpace } from './keys.ts';
import type { OwnClaims } from './own-claims.ts';
import { firstIn, readQueue } from './reading.ts';

/** Lengths that are at most so far apart share a lease. */
const STEP = 1.05;
/** A lease lives so much longer, so that later records can share it. */
const MORE = 1.1;
/** Tolerance for clock rates. */
const DRIFT = 1.01;

interface Parts {
  readonly client: EtcdClient;
  readonly keys: KeySpace;
  readonly clock: Clock;
  readonly own: OwnClaims;
}

interface Lent {
  readonly id: bigint;
  /** It lives at least until then, in ms of the clock. */
  readonly until: number;
}

/** The expected state of a holder's key. */
interface Hold {
  readonly number: bigint;
  readonly lease: bigint;
}

export class Keeping {
  readonly #parts: Parts;
  readonly #leases = new Map<number, Promise<Lent>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async keep(
    claim: Claim,
    record: { readonly text: string; readonly ms: number },
  ): Promise<boolean> {
    const known = this.#known(claim);
    if (known && (await this.#write(claim, known, record))) return true;
    // Its key may have changed since.
    const found = await this.#look(claim);
    return found !== undefined && this.#write(claim, found, record);
  }

  async recall(resource: string): Promise<Kept | undefined> {
    const { client, keys } = this.#parts;
    const { answers } = await client.txn({ success: [{ range: { key: keys.record(resource) } }] });
    const kv = firstIn(answers[0]);
    if (!kv) return undefined;
    // The last second may read as 0.
    return { text: kv.value, leftMs: Math.max(1, await client.timeToLive(kv.lease)) };
  }

  #known({ id }: Claim): Hold | undefined {
    const own = this.#parts.own.find(id);
    if (!own?.held || own.number === 0n || own.until <= this.#parts.clock.now()) return undefined;
    return { number: own.number, lease: own.lease.id };
  }

  async #look(claim: Claim): Promise<Hold | undefined> {
    const { client, keys, own, clock } = this.#parts;
    const { view } = await readQueue(client, keys, claim.resource);
    const index = view.find(keys.claim(claim.resource, claim.id));
    const place = view.places[index];
    if (!place || place.sealed || index >= view.admitted) return undefined;
    // It was not renewed for its ttl: it is about to be deleted.
    if ((own.find(claim.id)?.until ?? Number.POSITIVE_INFINITY) <= clock.now()) return undefined;
    return { number: place.number, lease: place.lease };
  }

  /** False: the claim no longer holds. */
  async #write(
    { resource, id }: Claim,
    { number, lease }: Hold,
    { text, ms }: { readonly text: string; readonly ms: number },
  ): Promise<boolean> {
    const { client, keys } = this.#parts;
    const key = keys.claim(resource, id);
    const compare: Compare[] = [
      { target: 'create', is: '=', key, to: number },
      { target: 'lease', is: '=', key, to: lease },
    ];
    const record = { key: keys.record(resource) };
    const write = async (operation: Operation): Promise<boolean> =>
      (await client.txn({ compare, success: [operation] })).succeeded;
    if (ms <= 0) return write({ delete: record });
    for (let again = false; ; again = true) {
      const lent = await this.#lend(ms);
      try {
        return await write({ put: { ...record, value: text, lease: lent.id } });
      } catch (error) {
        if (again || !isLeaseGone(error)) throw error;
        // Another user ended it.
        this.#leases.clear();
      }
    }
  }

  /** A lease with so much left. */
  async #lend(ms: number): Promise<Lent> {
    const wanted = ms * DRIFT;
    const length = Math.ceil(Math.log(Math.max(1, wanted)) / Math.log(STEP));
    const known = this.#leases.get(length);
    const lent = await known?.catch(() => undefined);
    const enough = lent !== undefined && lent.until >= this.#parts.clock.now() + wanted;
    if (enough) return lent;
    // The first to notice asks for all.
    if (this.#leases.get(length) === known) this.#leases.set(length, this.#grant(length));
    return this.#leases.get(length) ?? this.#grant(length);
  }

  async #grant(length: number): Promise<Lent> {
    const at = this.#parts.clock.now();
    const { id, ttlMs } = await this.#parts.client.grant(STEP ** length * MORE);
    return { id, until: at + ttlMs };
  }
}
