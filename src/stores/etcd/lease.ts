/**
 * The life of claims: leases of etcd, each shared by all claims of this process with one TTL.
 *
 * One request keeps ten thousand claims on one lease alive, and they die together without it. Each
 * must still end as if it had its own lease: a claim that ended, or that was not renewed for its
 * TTL, does not live on because others do. Invariant: a lease is kept alive only after the server
 * has confirmed that every claim on it that is over is deleted, and that no copy of one can come
 * any more. So a release that failed is repeated until it succeeds, or the TTL ends the claim.
 * A request without a reply may be carried out at any time, long after a tombstone has passed: by a
 * server that stood still, for example. So each claim is compared with the mark of its lease: a key
 * that is written again, and so gets another revision, after such a request. Copies sent before are
 * refused from then on, and anything that they wrote until then is deleted. The mark in use is
 * always one that the server has reported, never an expected one; otherwise a later mark might fit
 * a copy.
 * A lease counts from when the last request that kept it alive was sent, for as long as the server
 * said, which may be more than was asked for. Tombstones and delayed releases, which have no
 * heartbeats, get leases without keep-alives.
 */
import type { Compare, Operation } from '../../clients/etcd/client.ts';
import { isFull, isLeaseGone } from '../../clients/etcd/errors.ts';
import type { EtcdContext } from './layout.ts';

/** A lease is renewed only from this age on, as a part of its TTL. */
const FRESH = 1 / 6;
/** Deletions in one transaction. */
const MOST_AT_ONCE = 100;
/** How long a note lasts, at least. */
export const NOTE_MS = 30_000;

export interface Occupant {
  readonly key: string;
  /** Over by then unless it is renewed, in ms of the clock. */
  until: number;
  /** Noted for the next claim if this one ends without a renewal. */
  readonly death?: EtcdNote | undefined;
}

/** How a hold ended, and the key for it. */
export interface EtcdNote {
  readonly key: string;
  readonly value: string;
}

export interface LeaseContext extends EtcdContext {
  /** A lease for notes, without keep-alives. */
  readonly memo: (ms: number) => Promise<bigint>;
}

interface Deletion {
  readonly only?: Omit<Compare, 'key'>;
  readonly also?: readonly Operation[];
}

export class EtcdLease {
  readonly id: bigint;
  readonly occupants: Map<string, Occupant> = new Map();
  readonly markKey: string;
  /** The revision of the mark; 0: it was never written. */
  mark = 0n;
  readonly #parts: LeaseContext;
  /** Claims whose copies may come late, by their ids; each doubt is another object. */
  readonly #doubted: Map<string, { readonly key: string }> = new Map();
  #ttlMs: number;
  #confirmedAt: number;
  #asking: Promise<boolean> | undefined;

  constructor(
    parts: LeaseContext,
    granted: { readonly id: bigint; readonly ttlMs: number; readonly at: number },
  ) {
    this.#parts = parts;
    this.markKey = parts.keys.mark(granted.id);
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

  /** Renews its whole life, unless fresh. False: it is dead. */
  confirm(): Promise<boolean> {
    const now = this.#parts.clock.now();
    if (this.age(now) >= 1) return Promise.resolve(false);
    if (this.age(now) < FRESH) return Promise.resolve(true);
    this.#asking ??= this.#ask(now).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** The claim may be on it, and it may be kept alive again. */
  carries(id: string): boolean {
    const over = this.age(this.#parts.clock.now()) >= 1 && this.#asking === undefined;
    return !over && this.occupants.has(id);
  }

  /** A request to put this claim on the lease may be carried out at any time. */
  doubt(id: string, { key }: Occupant): void {
    this.#doubted.set(id, { key });
  }

  /** The server has reported this mark; an older one may follow. */
  marked(revision: bigint): void {
    if (revision > this.mark) this.mark = revision;
  }

  async #ask(now: number): Promise<boolean> {
    await this.clear(now);
    const at = this.#parts.clock.now();
    const ttlMs = await this.#parts.client.keepAlive(this.id);
    if (ttlMs <= 0) {
      this.#ttlMs = 0;
      return false;
    }
    this.#ttlMs = ttlMs;
    this.#confirmedAt = at;
    return true;
  }

  /** Deletes every claim on it that is over, and makes sure that none comes late. */
  async clear(now: number): Promise<void> {
    const over = [...this.occupants].filter(([, { until }]) => until <= now);
    await this.#end(over.map(([, occupant]) => occupant));
    for (const [id] of over) this.occupants.delete(id);
    if (this.#doubted.size === 0) return;
    await this.#refuse().catch((error: unknown) => {
      // A dead lease takes no more claims.
      if (!isLeaseGone(error)) throw error;
    });
  }

  /** Notes the dead ones in the same step; without room for that, it only deletes. */
  async #end(over: readonly Occupant[]): Promise<void> {
    const ends = over.map(({ key, death }) => ({ key, death }));
    const deletions = ends.map(({ key }) => this.#deletion(key));
    const notes = new Map(ends.flatMap(({ death }) => (death ? [[death.key, death]] : [])));
    const lease =
      notes.size > 0 ? await this.#parts.memo(NOTE_MS).catch(() => undefined) : undefined;
    if (lease === undefined) return this.#send(deletions);
    const noted = ends.map(({ key, death }) => {
      // One note for each resource.
      const also = death && notes.get(death.key) === death ? [{ put: { ...death, lease } }] : [];
      return this.#deletion(key, { also });
    });
    await this.#send(noted).catch((error: unknown) => {
      if (!isFull(error)) throw error;
      return this.#send(deletions);
    });
  }

  /** Existing copies are older than the mark; a claim that is made again is not. */
  async #refuse(): Promise<void> {
    const doubted = [...this.#doubted];
    const { revision, refuses } = await this.#remark();
    const absent = doubted.filter(([id]) => !this.occupants.has(id));
    const only = { target: 'create', is: '<', to: revision } as const;
    await this.#send(absent.map(([, { key }]) => this.#deletion(key, { only })));
    if (!refuses) return;
    for (const [id, doubt] of doubted) {
      // Requests sent meanwhile may have the new mark.
      if (this.#doubted.get(id) === doubt) this.#doubted.delete(id);
    }
  }

  /** Keys older than `revision` were sent before; `refuses`: no more of them come. */
  async #remark(): Promise<{ readonly revision: bigint; readonly refuses: boolean }> {
    const put = { key: this.markKey, value: '', lease: this.id };
    try {
      const { revision } = await this.#parts.client.txn({ success: [{ put }] });
      this.marked(revision);
      return { revision, refuses: true };
    } catch (error) {
      if (!isFull(error)) throw error;
      // A full server takes no claims either. The doubt stays until there is room for a mark.
      const { revision } = await this.#parts.client.txn({ success: [{ range: { key: put.key } }] });
      return { revision: revision + 1n, refuses: false };
    }
  }

  /** Unless it is on another lease by now, which decides its end. */
  #deletion(key: string, { only, also = [] }: Deletion = {}): Operation {
    const same = { target: 'lease', is: '=', key, to: this.id } as const;
    const compare = only ? [same, { ...only, key }] : [same];
    return { txn: { compare, success: [{ delete: { key } }, ...also] } };
  }

  async #send(deletions: readonly Operation[]): Promise<void> {
    for (let i = 0; i < deletions.length; i += MOST_AT_ONCE) {
      await this.#parts.client.txn({ success: deletions.slice(i, i + MOST_AT_ONCE) });
    }
  }
}
