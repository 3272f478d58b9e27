/**
 * The leases of a process: one for all claims of one TTL in whole seconds (lease.ts). Tombstones,
 * notes, and delayed releases have others, without keep-alives.
 */
import { Lease, type LeaseContext, type LeaseParts } from './lease.ts';

/** The greatest age of a lease for a new claim, which has the rest, as a part of its TTL. */
const YOUNG = 1 / 3;
/** A memo lease lives so many times as long, for others to share. */
const MEMO_FACTOR = 2;

export class Leases {
  readonly #parts: LeaseContext;
  readonly #bySeconds = new Map<number, Promise<Lease>>();
  readonly #memos = new Map<number, Promise<Lease>>();
  readonly #atHand = new Map<number, Lease>();
  /** Those that claims were put on. Two objects would not share their claims. */
  readonly #byId = new Map<bigint, Lease>();

  constructor(parts: LeaseParts) {
    this.#parts = { ...parts, memo: (ms) => this.memo(ms) };
  }

  /** The lease with this id, perhaps another connection's, with so much life left. */
  of(id: bigint, { ms, at }: { readonly ms: number; readonly at: number }): Lease {
    return this.#byId.get(id) ?? this.#know(new Lease(this.#parts, { id, ttlMs: ms, at }));
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
    // The first to notice asks for all.
    if (this.#bySeconds.get(seconds) === known) this.#bySeconds.set(seconds, this.#begin(seconds));
    return this.#bySeconds.get(seconds) ?? this.#begin(seconds);
  }

  /**
   * Keeps a lease alive, perhaps another connection's. False: it is dead.
   * @throws StoreError
   */
  async keepAlive(id: bigint): Promise<boolean> {
    const known = this.#byId.get(id);
    return known ? known.confirm() : (await this.#parts.client.keepAlive(id)) > 0;
  }

  /** The lease is dead. */
  async bury(lease: Lease, ttlMs: number): Promise<void> {
    const seconds = Math.ceil(ttlMs / 1000);
    const known = this.#bySeconds.get(seconds);
    const current = await known?.catch(() => undefined);
    const same = current === lease && this.#bySeconds.get(seconds) === known;
    if (same) this.#bySeconds.delete(seconds);
  }

  /**
   * One that ends after `ms`, without keep-alives.
   * @throws StoreError
   */
  async ending(ms: number): Promise<bigint> {
    return (await this.#grant(Math.max(1, Math.ceil(ms / 1000)))).id;
  }

  /**
   * One that ends some time after `ms`, without keep-alives.
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

  /** The same if there is one now; otherwise there soon will be. */
  memoAtHand(ms: number): bigint | undefined {
    const lease = this.#atHand.get(Math.ceil(ms / 1000));
    if (lease && lease.deadline - this.#parts.clock.now() >= ms) return lease.id;
    this.memo(ms).catch(() => {});
    return undefined;
  }

  async #begin(seconds: number): Promise<Lease> {
    return this.#know(await this.#grant(seconds));
  }

  #know(lease: Lease): Lease {
    const now = this.#parts.clock.now();
    for (const [id, each] of this.#byId) if (each.age(now) >= 1) this.#byId.delete(id);
    this.#byId.set(lease.id, lease);
    return lease;
  }

  async #grant(seconds: number): Promise<Lease> {
    const at = this.#parts.clock.now();
    const granted = await this.#parts.client.grant(seconds * 1000);
    return new Lease(this.#parts, { ...granted, at });
  }
}
