/**
 * One lock that is shared with leader elections of client-go: a `Lease`, by their rules.
 *
 * Invariant: a lease is taken only by a write that names the version at which it was free: without
 * a holder, or unchanged for its own duration by this process's clock, counted from the reply that
 * first showed it. Its holder began to count before it sent what that reply showed; had it renewed
 * the lease since, the version would be another. So no clock is compared with another, and the
 * times in the record only tell one renewal from the next.
 * Only this process knows a claim. If its request got no reply, the store looks for it before
 * sending it again, and counts its life from before that look. If a release does not find it, the
 * lease is written to all the same: a late copy then names a version that is gone.
 * client-go's own release may end the lease of another (0.34 reads the version anew, but not the
 * holder). A hold that finds this goes on if no other has taken the lease since, else it is lost.
 * The token is the version that took the lease. Versions grow with every write to any lease of the
 * cluster, even if the lease was deleted in between.
 * What would break it: a reply from a cache; two holders with one identity; a clock that is more
 * than 1 % faster than the holder's, for which core keeps a margin and others may not.
 */
import type { Clock } from '../../base/clock.ts';
import { temporaryFailure, toStoreError } from '../../contract/errors.ts';
import { EXPIRED, REFUSED, UNKNOWN } from '../../contract/gone.ts';
import type { Claim, ClaimStatus, GoneStatus, Queue } from '../../contract/store.ts';
import type { OwnTombstones } from '../own-tombstones.ts';
import type { LeaseObject, LeaseSpec } from './lease.ts';
import type { LeaseApi } from './lease-api.ts';
import { freed, holderIn, identityOf, kept, renewed, taken, transitionsOf } from './lock-record.ts';

export interface SharedLeaseParts {
  readonly leases: Pick<LeaseApi, 'find' | 'write'>;
  /** The tombstones of the claims of all leases. */
  readonly released: OwnTombstones;
  readonly clock: Clock;
  /** For people, and so that a renewal differs: in epoch ms. */
  readonly wallMs: () => number;
  /** The mean pause between two tries. */
  readonly retryMs: number;
}

interface SharedHold {
  readonly identity: string;
  /** When it ends, by this process's clock. */
  until: number;
  /** Undefined as long as no reply has said that it is held. */
  token: bigint | undefined;
  /** The transitions in the last record that was its own. */
  transitions: number;
}

/** What the last reply showed, and when a reply first showed the same record. */
interface SeenLease {
  readonly lease: LeaseObject | undefined;
  readonly record: string;
  readonly since: number;
}

/** Others may write between a look and a write, but not for ever. */
const TRIES = 5;
const CONTENDED = 'The Lease was written to by others again and again.';

export class SharedLease {
  usedAt = 0;
  readonly #name: string;
  readonly #parts: SharedLeaseParts;
  readonly #holds = new Map<string, SharedHold>();
  #seen: SeenLease | undefined;

  constructor(name: string, parts: SharedLeaseParts) {
    this.#name = name;
    this.#parts = parts;
  }

  /** No claim of this process is in it. */
  get isIdle(): boolean {
    return this.#holds.size === 0;
  }

  async claim(claim: Claim): Promise<ClaimStatus> {
    const { clock, retryMs } = this.#parts;
    const known = this.#holds.get(claim.id);
    if (known?.token !== undefined) return this.#statusOf(known);
    let leftMs = 0;
    for (let tries = 0; tries < TRIES; tries++) {
      const until = clock.now() + claim.ttlMs;
      const remembered = tries === 0 && !known && this.#seen && this.#leftMs(this.#seen.lease) <= 0;
      const lease = remembered ? this.#seen?.lease : await this.#look();
      leftMs = this.#leftMs(lease);
      const status = await this.#enter(claim, { lease, until, free: leftMs <= 0 });
      if (status) return status;
      if (leftMs > 0) break;
    }
    if (!claim.queue) return REFUSED;
    const pause = retryMs * (0.5 + clock.random());
    const retryInMs = leftMs > 0 ? Math.min(pause, leftMs) : pause;
    return { state: 'waiting', leftMs: claim.ttlMs, why: 'queue', ahead: 1, retryInMs };
  }

  /** Undefined if another has it. */
  async #enter(
    claim: Claim,
    at: { readonly lease: LeaseObject | undefined; readonly until: number; readonly free: boolean },
  ): Promise<ClaimStatus | undefined> {
    const { id, ttlMs } = claim;
    const { wallMs, released } = this.#parts;
    const gone = released.find(id);
    if (gone) return gone;
    const identity = identityOf(claim);
    const before = this.#holds.get(id);
    if (at.lease?.spec?.holderIdentity === identity) {
      return before ? this.#granted(before, at.lease) : EXPIRED;
    }
    if (!at.free) return undefined;
    // First, so that a release finds it. An earlier copy was not there when this look began.
    const hold = before ?? { identity, until: 0, token: undefined, transitions: 0 };
    hold.until = at.until;
    this.#holds.set(id, hold);
    let unknown = before !== undefined;
    try {
      const wrote = await this.#write(taken({ identity, ttlMs }, at.lease, wallMs()), at.lease);
      if (wrote) this.#granted(hold, wrote);
    } catch (error) {
      unknown ||= toStoreError(error).outcome === 'unknown';
      throw error;
    } finally {
      if (hold.token === undefined && !unknown) this.#holds.delete(id);
    }
    const held = hold.token === undefined ? undefined : this.#statusOf(hold);
    return released.find(id) ?? held;
  }

  async renew(claim: Claim): Promise<ClaimStatus> {
    const { id, ttlMs } = claim;
    const { clock, wallMs, released } = this.#parts;
    const hold = this.#holds.get(id);
    if (hold?.token === undefined) return released.find(id) ?? UNKNOWN;
    for (let tries = 0; tries < TRIES; tries++) {
      const sentAt = clock.now();
      if (hold.until <= sentAt) return EXPIRED;
      const lease = await this.#own(hold, tries);
      const gone = released.find(id) ?? lossIn(lease, hold);
      if (gone) return gone;
      const { spec = {} } = lease ?? {};
      const next = spec.holderIdentity
        ? renewed(spec, ttlMs, wallMs())
        : taken({ identity: hold.identity, ttlMs }, lease, wallMs());
      const wrote = await this.#write(next, lease);
      if (!wrote) continue;
      hold.until = Math.max(hold.until, sentAt + ttlMs);
      return released.find(id) ?? this.#granted(hold, wrote);
    }
    throw temporaryFailure(CONTENDED);
  }

  /** True if it was held. */
  async release(claim: Claim, afterMs: number): Promise<boolean> {
    const { id, ttlMs } = claim;
    const { clock, wallMs, released } = this.#parts;
    // First, because a copy may be under way.
    released.bury(id, ttlMs + afterMs);
    const hold = this.#holds.get(id);
    if (!hold) return false;
    for (let tries = 0; tries < TRIES; tries++) {
      // A reply to the claim may overtake that of this look, which then says nothing of a loss.
      const granted = hold.token !== undefined;
      const lease = await this.#own(hold, tries);
      const isOurs = lease?.spec?.holderIdentity === hold.identity;
      // A claim, or a renewal that takes back what another has ended.
      const mayCome = granted ? !lossIn(lease, hold) : this.#leftMs(lease) <= 0;
      const now = wallMs();
      const left = isOurs && afterMs > 0 ? kept(lease.spec, afterMs, now) : freed(lease, now);
      const done = !(isOurs || mayCome) || (await this.#write(left, lease));
      if (!done) continue;
      this.#holds.delete(id);
      return isOurs && clock.now() < hold.until;
    }
    throw temporaryFailure(CONTENDED);
  }

  async inspect(resource: string): Promise<Queue> {
    const lease = await this.#look();
    const leftMs = this.#leftMs(lease);
    const { spec = {} } = lease ?? {};
    if (leftMs <= 0) return { resource, holders: [], waiters: [] };
    const own = [...this.#holds.values()].find(({ identity }) => identity === spec.holderIdentity);
    const number = own?.token ?? 0n;
    const ttlMs = (spec.leaseDurationSeconds ?? 0) * 1000;
    const shown = { number, kind: 'mutex', permits: 1, ttlMs, leftMs } as const;
    return { resource, limit: 1, holders: [{ ...shown, holder: holderIn(spec) }], waiters: [] };
  }

  /** The status of a claim that this lease names. */
  #granted(hold: SharedHold, lease: LeaseObject): ClaimStatus {
    hold.token ??= BigInt(lease.metadata.resourceVersion ?? 0);
    hold.transitions = transitionsOf(lease);
    return this.#statusOf(hold);
  }

  #statusOf({ token = 0n, until }: SharedHold): ClaimStatus {
    const leftMs = until - this.#parts.clock.now();
    return leftMs > 0 ? { state: 'held', token, leftMs, waiters: 0 } : EXPIRED;
  }

  /** As last seen, if that was the hold's; otherwise, and where that has failed, as it is. */
  async #own({ identity }: SharedHold, tries: number): Promise<LeaseObject | undefined> {
    const last = this.#seen?.lease;
    return tries === 0 && last?.spec?.holderIdentity === identity ? last : this.#look();
  }

  async #look(): Promise<LeaseObject | undefined> {
    return this.#saw(await this.#parts.leases.find(this.#name));
  }

  /** Undefined if it has changed since. */
  async #write(spec: LeaseSpec, onto: LeaseObject | undefined): Promise<LeaseObject | undefined> {
    const reply = await this.#parts.leases.write(this.#name, spec, onto);
    return reply === 'other' ? undefined : this.#saw(reply);
  }

  #saw(lease: LeaseObject | undefined): LeaseObject | undefined {
    const record = recordOf(lease);
    const since = this.#seen?.record === record ? this.#seen.since : this.#parts.clock.now();
    this.#seen = { lease, record, since };
    return lease;
  }

  /** How long it must not be taken, in ms; 0 or less if it is free. */
  #leftMs(lease: LeaseObject | undefined): number {
    const { holderIdentity, leaseDurationSeconds = 0 } = lease?.spec ?? {};
    if (!holderIdentity) return 0;
    const now = this.#parts.clock.now();
    const since = this.#seen?.record === recordOf(lease) ? this.#seen.since : now;
    return since + leaseDurationSeconds * 1000 - now;
  }
}

/** What a renewal changes; people may change the rest. */
function recordOf(lease: LeaseObject | undefined): string {
  return JSON.stringify([lease?.metadata.uid, lease?.spec]);
}

/**
 * How a hold has ended whose time is not over: by a program or a person that keeps no rules. One
 * that was only ended goes on if it was not taken since: there would be more transitions.
 */
function lossIn(lease: LeaseObject | undefined, hold: SharedHold): GoneStatus | undefined {
  if (!lease) return { state: 'gone', why: 'store-reset' };
  const { holderIdentity = '' } = lease.spec ?? {};
  if (holderIdentity === hold.identity) return undefined;
  if (holderIdentity === '' && transitionsOf(lease) === hold.transitions) return undefined;
  const detail = `the Lease names ${holderIdentity || 'no holder'}`;
  return { state: 'gone', why: 'evicted', detail };
}
