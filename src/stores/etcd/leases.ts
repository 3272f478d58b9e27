/**
 * The life of claims: leases of etcd, each shared by all claims of this process with one TTL.
 *
 * Ten thousand claims on one lease are kept alive by one request, and die together when nobody
 * sends it. What one lease each would give must then hold all the same: a claim that ended, or that
 * nobody has asked about for its TTL, does not live on because others do. Invariant: a lease is
 * kept alive only after the server has confirmed that every claim on it that is over is deleted,
 * and that no copy of one can come any more. So a release that failed is repeated until it
 * succeeds, or the TTL does the work.
 * A request without an answer may be carried out at any time, long after a tombstone has passed: by
 * a server that stood still, for example. Therefore each claim is compared with the mark of its
 * lease, a key that is written again, and so gets another revision, after such a request: a copy
 * that was sent before is refused from then on, and what has come of it until then is deleted. The
 * mark in use is never one that was hoped for, only one that the server has told; otherwise a copy
 * might be sent that a later mark fits.
 * A lease counts from when the last request that kept it alive was sent, for as long as the server
 * said, which may be more than was asked for. What lives without heartbeats, a tombstone or a claim
 * that ends later, gets a lease that nobody keeps alive.
 */
import type { Clock } from '../../clock.ts';
import type { Compare, EtcdClient, Operation } from './client.ts';
import { isLeaseGone } from './errors.ts';
import type { KeySpace } from './keys.ts';

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

export interface LeaseParts {
  readonly client: EtcdClient;
  readonly clock: Clock;
  readonly keys: KeySpace;
}

export class Lease {
  readonly id: bigint;
  readonly occupants: Map<string, Occupant> = new Map();
  readonly markKey: string;
  /** The revision of the mark; 0: it was never written. */
  mark = 0n;
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  /** Claims of which a copy may come late, by their ids; each doubt is another object. */
  readonly #doubted = new Map<string, { readonly key: string }>();
  #ttlMs: number;
  #confirmedAt: number;
  #asking: Promise<boolean> | undefined;

  constructor(
    { client, clock, keys }: LeaseParts,
    granted: { readonly id: bigint; readonly ttlMs: number; readonly at: number },
  ) {
    this.#client = client;
    this.#clock = clock;
    this.markKey = keys.mark(granted.id);
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

  /** A request to put this claim on the lease may be carried out at any time. */
  doubt(id: string, { key }: Occupant): void {
    this.#doubted.set(id, { key });
  }

  /** The server has told this mark; an older one may be told later. */
  marked(revision: bigint): void {
    if (revision > this.mark) this.mark = revision;
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
   * Deletes every claim on it that is over, and sees to it that none comes late.
   * @throws StoreError
   */
  async clear(now: number): Promise<void> {
    const over = [...this.occupants].filter(([, { until }]) => until <= now);
    await this.#delete(over.map(([, { key }]) => key));
    for (const [id] of over) this.occupants.delete(id);
    const doubted = new Map(this.#doubted);
    if (doubted.size > 0) await this.#refuse(doubted);
    for (const [id, doubt] of doubted) {
      // What was sent meanwhile may have the new mark.
      if (this.#doubted.get(id) === doubt) this.#doubted.delete(id);
    }
  }

  /** What has come already is older than the mark; a claim that is made again is not. */
  async #refuse(doubted: ReadonlyMap<string, { readonly key: string }>): Promise<void> {
    const put = { key: this.markKey, value: '', lease: this.id };
    try {
      const { revision } = await this.#client.txn({ success: [{ put }] });
      this.marked(revision);
      const absent = [...doubted].filter(([id]) => !this.occupants.has(id));
      const keys = absent.map(([, { key }]) => key);
      await this.#delete(keys, { target: 'create', is: '<', to: revision });
    } catch (error) {
      // Then nothing can be put on it any more.
      if (!isLeaseGone(error)) throw error;
    }
  }

  /** Unless it is on another lease by now, which says when it ends. */
  async #delete(keys: readonly string[], only?: Omit<Compare, 'key'>): Promise<void> {
    const deletions = keys.map((key): Operation => {
      const same = { target: 'lease', is: '=', key, to: this.id } as const;
      const compare = only ? [same, { ...only, key }] : [same];
      return { txn: { compare, success: [{ delete: { key } }] } };
    });
    for (let i = 0; i < deletions.length; i += MOST_AT_ONCE) {
      await this.#client.txn({ success: deletions.slice(i, i + MOST_AT_ONCE) });
    }
  }
}

export class Leases {
  readonly #parts: LeaseParts;
  readonly #bySeconds = new Map<number, Promise<Lease>>();
  readonly #memos = new Map<number, Promise<Lease>>();
  readonly #atHand = new Map<number, Lease>();

  constructor(parts: LeaseParts) {
    this.#parts = parts;
  }

  /**
   * One for a new claim, with at least two thirds of its life left.
   * @throws StoreError
   */
  async lend(ttlMs: number): Promise<Lease> {
    const seconds = Math.ceil(ttlMs / 1000);
    const known = this.#bySeconds.get(seconds);
    const lease = await known?.catch(() => undefined);
    const now = this.#parts.clock.now();
    if (lease && (lease.age(now) < YOUNG || (await lease.confirm()))) return lease;
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
    if (lease && lease.deadline - this.#parts.clock.now() >= ms) return lease.id;
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
    if (lease && lease.deadline - this.#parts.clock.now() >= ms) return lease.id;
    this.memo(ms).catch(() => {});
    return undefined;
  }

  async #grant(seconds: number): Promise<Lease> {
    const at = this.#parts.clock.now();
    const granted = await this.#parts.client.grant(seconds * 1000);
    return new Lease(this.#parts, { ...granted, at });
  }
}
