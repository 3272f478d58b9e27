/**
 * Records of work that is done: each a key of its own, in no queue, on a lease that nobody keeps
 * alive.
 *
 * Invariant: a record is written only by who holds. Its transaction compares the create revision of
 * the claim's key, so the claim is still there, and the lease of that key, for whatever seals a
 * claim puts it on another one. Whether it is admitted is known before: once it is, it stays so. A
 * copy that comes late finds the key gone, and writes nothing.
 * A lease serves many records: one that is granted for a tenth more than was asked for, as long as
 * it has enough left. So some dozen leases live at a time for all records of about one length,
 * however many those are; each would otherwise be a timer of the leader, and a write of its own. A
 * lease of days is one like any other; a leader that is new gives it its whole life again. So a
 * record may live longer than was asked for, by a sixth or by that, and never shorter: lengths are
 * rounded up, and what is left of a lease is counted from before it was granted.
 * What would break it: somebody who ends the leases of others.
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
/** A lease is made for so much more, in which others may come to it. */
const MORE = 1.1;
/** Clocks of different rates. */
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

/** What the key of a claim that holds is compared with. */
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
    // It may hold in another way than is known here.
    const found = await this.#look(claim);
    return found !== undefined && this.#write(claim, found, record);
  }

  async recall(resource: string): Promise<Kept | undefined> {
    const { client, keys } = this.#parts;
    const { answers } = await client.txn({ success: [{ range: { key: keys.record(resource) } }] });
    const kv = firstIn(answers[0]);
    if (!kv) return undefined;
    // Its last second counts as none.
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
    // Nobody has asked about it for its ttl: it is about to be deleted.
    if ((own.find(claim.id)?.until ?? Number.POSITIVE_INFINITY) <= clock.now()) return undefined;
    return { number: place.number, lease: place.lease };
  }

  /** False: it was no such claim any more. */
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
        // Somebody has ended it.
        this.#leases.clear();
      }
    }
  }

  /** One that lives for so long. */
  async #lend(ms: number): Promise<Lent> {
    const wanted = ms * DRIFT;
    const length = Math.ceil(Math.log(Math.max(1, wanted)) / Math.log(STEP));
    const known = this.#leases.get(length);
    const lent = await known?.catch(() => undefined);
    const enough = lent !== undefined && lent.until >= this.#parts.clock.now() + wanted;
    if (enough) return lent;
    // Whoever noticed first asks for all.
    if (this.#leases.get(length) === known) this.#leases.set(length, this.#grant(length));
    return this.#leases.get(length) ?? this.#grant(length);
  }

  async #grant(length: number): Promise<Lent> {
    const at = this.#parts.clock.now();
    const { id, ttlMs } = await this.#parts.client.grant(STEP ** length * MORE);
    return { id, until: at + ttlMs };
  }
}
