/**
 * The life of claims: leases of etcd, each shared by all claims of this process with one TTL.
 *
 * Ten thousand claims on one lease are kept alive by one request, and die together when nobody
 * sends it. What one lease each would give must then hold all the same: a claim that ended, or that
 * nobody has asked about for its TTL, does not live on because others do. Invariant: a lease is
 * kept alive only after the server has confirmed that every claim on it that is over is deleted. So
 * a release that failed is repeated until it succeeds, or the TTL does the work.
 * A lease counts from when the last request that kept it alive was sent, for as long as the server
 * said, which may be more than was asked for. What lives without heartbeats, a tombstone or a claim
 * that ends later, gets a lease that nobody keeps alive.
 */
import type { Clock } from '../../clock.ts';
import type { EtcdClient, Operation } from './client.ts';

/** So fresh, as a part of its TTL, is a lease that need not be asked about again. */
const FRESH = 1 / 6;
/** So old, as a part of its TTL, may a lease be for a new claim, which then has the rest. */
const YOUNG = 1 / 3;
/** As many deletions go in one transaction. */
const MOST_AT_ONCE = 100;
/** A memo lease serves whoever wants no more than half of its life. */
const MEMO_FACTOR = 2;

/** A claim on a lease. */
export interface Occupant {
  readonly key: string;
  /** Over by then unless somebody asks, in ms of the clock. */
  until: number;
}

export class Lease {
  readonly id: bigint;
  readonly occupants: Map<string, Occupant> = new Map();
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  #ttlMs: number;
  #confirmedAt: number;
  #asking: Promise<boolean> | undefined;

  constructor(
    parts: { readonly client: EtcdClient; readonly clock: Clock },
    granted: { readonly id: bigint; readonly ttlMs: number; readonly at: number },
  ) {
    this.#client = parts.client;
    this.#clock = parts.clock;
    this.id = granted.id;
    this.#ttlMs = granted.ttlMs;
    this.#confirmedAt = granted.at;
  }

  get deadline(): number {
    return this.#confirmedAt + this.#ttlMs;
  }

  /** How much of its TTL has passed since it was last confirmed; 1 and more: all. */
  age(now: number): number {
    return (now - this.#confirmedAt) / this.#ttlMs;
  }

  /**
   * Its whole life again, unless it is fresh. False: it is dead.
   * @throws StoreError
   */
  confirm(): Promise<boolean> {
    const now = this.#clock.now();
    if (this.age(now) >= 1) return Promise.resolve(false);
    if (this.age(now) < FRESH) return Promise.resolve(true);
    this.#asking ??= this.#ask(now).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(now: number): Promise<boolean> {
    await this.clear(now);
    const at = this.#clock.now();
    const ttlMs = await this.#client.keepAlive(this.id);
    if (ttlMs <= 0) {
      this.#ttlMs = 0;
      return false;
    }
    this.#ttlMs = ttlMs;
    this.#confirmedAt = at;
    return true;
  }

  /**
   * Deletes every claim on it that is over.
   * @throws StoreError
   */
  async clear(now: number): Promise<void> {
    const over = [...this.occupants].filter(([, { until }]) => until <= now);
    for (let i = 0; i < over.length; i += MOST_AT_ONCE) {
      const some = over.slice(i, i + MOST_AT_ONCE);
      await this.#client.txn({ success: some.map(([, { key }]) => deletion(key, this.id)) });
      for (const [id] of some) this.occupants.delete(id);
    }
  }
}

/** Unless it is on another lease by now, which says when it ends. */
function deletion(key: string, lease: bigint): Operation {
  const same = { target: 'lease', is: '=', key, to: lease } as const;
  return { txn: { compare: [same], success: [{ delete: { key } }] } };
}

export class Leases {
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #bySeconds = new Map<number, Promise<Lease>>();
  readonly #memos = new Map<number, Promise<Lease>>();
  readonly #atHand = new Map<number, Lease>();

  constructor(client: EtcdClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * One for a new claim, with at least two thirds of its life left.
   * @throws StoreError
   */
  async lend(ttlMs: number): Promise<Lease> {
    const seconds = Math.ceil(ttlMs / 1000);
    const known = this.#bySeconds.get(seconds);
    const lease = await known?.catch(() => undefined);
    if (lease && (lease.age(this.#clock.now()) < YOUNG || (await lease.confirm()))) return lease;
    // Whoever noticed first asks for all.
    if (this.#bySeconds.get(seconds) === known) this.#bySeconds.set(seconds, this.#grant(seconds));
    return this.#bySeconds.get(seconds) ?? this.#grant(seconds);
  }

  /** It has turned out to be dead. */
  async bury(lease: Lease, ttlMs: number): Promise<void> {
    const seconds = Math.ceil(ttlMs / 1000);
    const known = this.#bySeconds.get(seconds);
    const current = await known?.catch(() => undefined);
    const same = current === lease && this.#bySeconds.get(seconds) === known;
    if (same) this.#bySeconds.delete(seconds);
  }

  /**
   * One that ends after `ms` and nobody keeps alive.
   * @throws StoreError
   */
  async ending(ms: number): Promise<bigint> {
    return (await this.#grant(Math.max(1, Math.ceil(ms / 1000)))).id;
  }

  /**
   * One that ends some time after `ms`, for what nobody keeps alive.
   * @throws StoreError
   */
  async memo(ms: number): Promise<bigint> {
    const seconds = Math.ceil(ms / 1000);
    const known = this.#memos.get(seconds);
    const lease = await known?.catch(() => undefined);
    if (lease && lease.deadline - this.#clock.now() >= ms) return lease.id;
    if (this.#memos.get(seconds) === known) {
      this.#memos.set(seconds, this.#grant(seconds * MEMO_FACTOR));
    }
    const current = (await this.#memos.get(seconds)) as Lease;
    this.#atHand.set(seconds, current);
    return current.id;
  }

  /** The same if there is one at hand; otherwise there soon will be. */
  memoAtHand(ms: number): bigint | undefined {
    const lease = this.#atHand.get(Math.ceil(ms / 1000));
    if (lease && lease.deadline - this.#clock.now() >= ms) return lease.id;
    this.memo(ms).catch(() => {});
    return undefined;
  }

  async #grant(seconds: number): Promise<Lease> {
    const at = this.#clock.now();
    const granted = await this.#client.grant(seconds * 1000);
    return new Lease({ client: this.#client, clock: this.#clock }, { ...granted, at });
  }
}
