/**
 * The leases of a process: one for all claims of one TTL in whole seconds (lease.ts). Delayed
 * releases have others, without keep-alives. So have tombstones, notes and records, but many of
 * about one length share one: it is granted for longer than they need, and used while it has
 * enough left.
 */
import { Answer, follow, type Soon } from '../../base/answer.ts';
import type { EtcdContext } from './layout.ts';
import { EtcdLease, type LeaseContext } from './lease.ts';

/** The greatest age of a lease for a new claim, which has the rest, as a part of its TTL. */
const YOUNG = 1 / 3;
/** Lengths of memos that are at most this far apart share a lease. */
const STEP = 1.05;

interface Wanted {
  /** Whether a lease has enough of its life left. */
  readonly suits: (lease: EtcdLease) => Soon<boolean>;
  readonly begin: () => Answer<EtcdLease>;
}

export class Leases {
  readonly #parts: LeaseContext;
  readonly #bySeconds = new Map<number, Answer<EtcdLease>>();
  readonly #memos = new Map<number, Answer<EtcdLease>>();
  /** Those that claims were put on. Two objects would not share their claims. */
  readonly #byId = new Map<bigint, EtcdLease>();

  constructor(parts: EtcdContext) {
    this.#parts = { ...parts, memo: (ms) => this.memo(ms) };
  }

  /** The lease with this id, perhaps another connection's, with so much life left. */
  of(id: bigint, { ms, at }: { readonly ms: number; readonly at: number }): EtcdLease {
    return this.#byId.get(id) ?? this.#know(new EtcdLease(this.#parts, { id, ttlMs: ms, at }));
  }

  /** One for a new claim, with at least two thirds of its life left. */
  lend(ttlMs: number): Answer<EtcdLease> {
    const seconds = Math.ceil(ttlMs / 1000);
    return this.#shared(this.#bySeconds, seconds, {
      suits: (lease) => lease.age(this.#parts.clock.now()) < YOUNG || lease.confirm(),
      begin: () => this.#grant(seconds).map((lease) => this.#know(lease)),
    });
  }

  /** Keeps a lease alive, perhaps another connection's. False: it is dead. */
  async keepAlive(id: bigint): Promise<boolean> {
    const known = this.#byId.get(id);
    return known ? known.confirm() : (await this.#parts.client.keepAlive(id)) > 0;
  }

  /** The lease is dead. */
  async bury(lease: EtcdLease, ttlMs: number): Promise<void> {
    const seconds = Math.ceil(ttlMs / 1000);
    const known = this.#bySeconds.get(seconds);
    const current = await known?.catch(() => undefined);
    const same = current === lease && this.#bySeconds.get(seconds) === known;
    if (same) this.#bySeconds.delete(seconds);
  }

  /** One that ends after `ms`, without keep-alives. */
  async ending(ms: number): Promise<bigint> {
    return (await this.#grant(Math.max(1, Math.ceil(ms / 1000)))).id;
  }

  /** Ends one of these then. If this process is gone, or the request fails, it ends by itself. */
  endAt(id: bigint, at: number): void {
    const { client, clock } = this.#parts;
    const left = at - clock.now();
    if (left <= 0) client.revoke(id).catch(() => {});
    else clock.setTimeout(() => this.endAt(id, at), left).unref();
  }

  /** One that ends after `ms`, and before `more` times as long, without keep-alives. */
  memo(ms: number, more = 2): Answer<bigint> {
    const length = Math.ceil(Math.log(Math.max(1, ms)) / Math.log(STEP));
    const seconds = Math.ceil((STEP ** length * more) / 1000);
    const lease = this.#shared(this.#memos, seconds, {
      suits: ({ deadline }) => deadline - this.#parts.clock.now() >= ms,
      begin: () => this.#grant(seconds),
    });
    return lease.map(({ id }) => id);
  }

  /** The same if there is one now; otherwise there soon will be. */
  memoAtHand(ms: number): bigint | undefined {
    let atHand: bigint | undefined;
    const settle = (id: bigint): void => {
      atHand = id;
    };
    this.memo(ms).on({ settle, fail: () => {} });
    return atHand;
  }

  /** Another user ended one of them. */
  forgetMemos(): void {
    this.#memos.clear();
  }

  /** The one that is known, if it suits; the first to notice that it does not begins another. */
  #shared(
    all: Map<number, Answer<EtcdLease>>,
    seconds: number,
    { suits, begin }: Wanted,
  ): Answer<EtcdLease> {
    const known = all.get(seconds);
    const another = (): Answer<EtcdLease> => {
      const current = all.get(seconds);
      if (current !== undefined && current !== known) return current;
      const begun = begin();
      all.set(seconds, begun);
      return begun;
    };
    const found = (lease: EtcdLease | undefined): Soon<EtcdLease> =>
      follow(lease !== undefined && suits(lease), (suited): Soon<EtcdLease> => {
        return lease && suited ? lease : another();
      });
    return known ? known.or(() => undefined).chain(found) : another();
  }

  #know(lease: EtcdLease): EtcdLease {
    const now = this.#parts.clock.now();
    for (const [id, each] of this.#byId) if (each.age(now) >= 1) this.#byId.delete(id);
    this.#byId.set(lease.id, lease);
    return lease;
  }

  #grant(seconds: number): Answer<EtcdLease> {
    const at = this.#parts.clock.now();
    const granted = Answer.from(this.#parts.client.grant(seconds * 1000));
    return granted.map((lease) => new EtcdLease(this.#parts, { ...lease, at }));
  }
}
