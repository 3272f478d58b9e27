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
import type { Clock } from '../../base/clock.ts';
import type { Compare, EtcdClient, Operation } from './client.ts';
import { isFull, isLeaseGone } from './errors.ts';
import type { KeySpace } from './keys.ts';

/** So fresh, as a part of its TTL, is a lease that need not be asked about again. */
const FRESH = 1 / 6;
/** As many deletions go in one transaction. */
const MOST_AT_ONCE = 100;
/** How long a note is there for whoever waits, at least. */
export const NOTE_MS = 30_000;

/** A claim on a lease. */
export interface Occupant {
  readonly key: string;
  /** Over by then unless somebody asks, in ms of the clock. */
  until: number;
  /** To be noted if it ends because nobody asks, for whoever comes next. */
  readonly death?: Note | undefined;
}

/** How a hold ended, and where that is written. */
export interface Note {
  readonly key: string;
  readonly value: string;
}

export interface LeaseParts {
  readonly client: EtcdClient;
  readonly clock: Clock;
  readonly keys: KeySpace;
}

export interface LeaseContext extends LeaseParts {
  /** One for notes, that nobody keeps alive. */
  readonly memo: (ms: number) => Promise<bigint>;
}

type Doubts = ReadonlyMap<string, { readonly key: string }>;

interface Deletion {
  /** What else has to be true of the key. */
  readonly only?: Omit<Compare, 'key'>;
  /** What is done with it. */
  readonly also?: readonly Operation[];
}

export class Lease {
  readonly id: bigint;
  readonly occupants: Map<string, Occupant> = new Map();
  readonly markKey: string;
  /** The revision of the mark; 0: it was never written. */
  mark = 0n;
  readonly #client: EtcdClient;
  readonly #clock: Clock;
  readonly #memo: LeaseContext['memo'];
  /** Claims of which a copy may come late, by their ids; each doubt is another object. */
  readonly #doubted: Map<string, { readonly key: string }> = new Map();
  #ttlMs: number;
  #confirmedAt: number;
  #asking: Promise<boolean> | undefined;

  constructor(
    { client, clock, keys, memo }: LeaseContext,
    granted: { readonly id: bigint; readonly ttlMs: number; readonly at: number },
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#memo = memo;
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

  /** The claim may be on it, and it may be kept alive again. */
  carries(id: string): boolean {
    const over = this.age(this.#clock.now()) >= 1 && this.#asking === undefined;
    return !over && this.occupants.has(id);
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
    await this.#end(over.map(([, occupant]) => occupant));
    for (const [id] of over) this.occupants.delete(id);
    if (this.#doubted.size === 0) return;
    await this.#refuse(new Map(this.#doubted)).catch((error: unknown) => {
      // Then nothing can be put on it any more.
      if (!isLeaseGone(error)) throw error;
    });
  }

  /** Those that died are noted in the same step; where there is no room for that, they only go. */
  async #end(over: readonly Occupant[]): Promise<void> {
    const ends = over.map(({ key, death }) => ({ key, death }));
    const deletions = ends.map(({ key }) => this.#deletion(key));
    const notes = new Map(ends.flatMap(({ death }) => (death ? [[death.key, death]] : [])));
    const lease = notes.size > 0 ? await this.#memo(NOTE_MS).catch(() => undefined) : undefined;
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

  /** What has come already is older than the mark; a claim that is made again is not. */
  async #refuse(doubted: Doubts): Promise<void> {
    const { revision, refuses } = await this.#remark();
    const absent = [...doubted].filter(([id]) => !this.occupants.has(id));
    const only = { target: 'create', is: '<', to: revision } as const;
    await this.#send(absent.map(([, { key }]) => this.#deletion(key, { only })));
    if (!refuses) return;
    for (const [id, doubt] of doubted) {
      // What was sent meanwhile may have the new mark.
      if (this.#doubted.get(id) === doubt) this.#doubted.delete(id);
    }
  }

  /** What is older than the revision was sent before; `refuses`: and none of it comes any more. */
  async #remark(): Promise<{ readonly revision: bigint; readonly refuses: boolean }> {
    const put = { key: this.markKey, value: '', lease: this.id };
    try {
      const { revision } = await this.#client.txn({ success: [{ put }] });
      this.marked(revision);
      return { revision, refuses: true };
    } catch (error) {
      if (!isFull(error)) throw error;
      // Nor can a claim be put while it is full. The doubt stays until there is room for a mark.
      const { revision } = await this.#client.txn({ success: [{ range: { key: put.key } }] });
      return { revision: revision + 1n, refuses: false };
    }
  }

  /** Unless it is on another lease by now, which says when it ends. */
  #deletion(key: string, { only, also = [] }: Deletion = {}): Operation {
    const same = { target: 'lease', is: '=', key, to: this.id } as const;
    const compare = only ? [same, { ...only, key }] : [same];
    return { txn: { compare, success: [{ delete: { key } }, ...also] } };
  }

  async #send(deletions: readonly Operation[]): Promise<void> {
    for (let i = 0; i < deletions.length; i += MOST_AT_ONCE) {
      await this.#client.txn({ success: deletions.slice(i, i + MOST_AT_ONCE) });
    }
  }
}
