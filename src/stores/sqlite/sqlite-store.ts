/**
 * The verbs of the store: each is one write transaction, repeated while the file is busy, and then
 * the wake-ups. For a lone claim, a statement that is a transaction by itself is tried first, but
 * not on the program's own connection, where it could be part of a transaction of the program.
 */
import { Answer } from '../../base/answer.ts';
import type { Clock } from '../../base/clock.ts';
import { fromText, next, toText } from '../../clients/sql/name-text.ts';
import type { WatchFile } from '../../clients/sqlite/wake-file.ts';
import type { Claim, ClaimStatus, Store, Traits } from '../../contract/store.ts';
import type { StoreVerbs } from '../batch.ts';
import { LockDatabase, type LockDatabaseParts, type OpenedDatabase } from './lock-database.ts';
import type { Queues } from './queues.ts';
import { SqliteWakes } from './wakes.ts';

export interface SqliteParts extends LockDatabaseParts {
  readonly watchFile: WatchFile;
  /** The clock of its timers; lives count on that of the machine. */
  readonly clock: Clock;
}

const SWEEP_US = 60_000_000;

const LIST_PAGE = 100;

export class SqliteStore implements Store {
  readonly name = 'sqlite';
  readonly traits: Traits = {
    queue: true,
    permits: true,
    tokens: 'machine-clock',
    atomicTry: true,
    clock: 'machine',
    reach: 'machine',
    records: true,
    replaces: true,
    synchronous: true,
    sequential: true,
    hintsGrant: true,
  };
  readonly #parts: SqliteParts;
  readonly #database: LockDatabase;
  readonly #wakes: SqliteWakes;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(parts: SqliteParts) {
    this.#parts = parts;
    const path = (): string => this.#database.opened?.connection.file ?? parts.file;
    this.#wakes = new SqliteWakes(path, parts.watchFile, parts.clock);
    this.#database = new LockDatabase(parts, this.#wakes.address);
  }

  get lineage(): string {
    return this.#database.opened?.lineage ?? 'sqlite';
  }

  claim(claims: readonly Claim[]): Answer<readonly ClaimStatus[]> {
    const looked = Answer.of(() => this.#database.checkNowAndThen());
    const lone = this.#lone(claims);
    return looked.chain(() => this.#noted(claims, (queues) => queues.claim(claims), lone));
  }

  async claimAll(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    this.#database.checkNowAndThen();
    return this.#noted(claims, (queues) => queues.claimAll(claims));
  }

  async renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    if (!this.#database.checkNow())
      return claims.map(() => ({ state: 'gone', why: 'store-reset' }));
    return this.#noted(claims, (queues) => queues.renew(claims));
  }

  release(claims: readonly Claim[], after?: { readonly ms: number }): Answer<boolean[]> {
    const afterMs = after?.ms ?? 0;
    const lone = afterMs > 0 ? undefined : this.#lone(claims);
    return this.#database.untilFree((opened) => {
      if (lone && opened.queues.releaseAlone(lone)) return [true];
      return this.#transact(opened, (queues) => queues.release(claims, afterMs));
    });
  }

  readonly inspect: StoreVerbs['inspect'] = (resource) =>
    this.#step((queues) => queues.inspect(resource));

  readonly watch: StoreVerbs['watch'] = (claim, wake) => this.#wakes.watch(claim, wake);

  readonly downgrade: StoreVerbs['downgrade'] = (claim) =>
    this.#step((queues) => queues.downgrade(claim));

  readonly evict: StoreVerbs['evict'] = (resource, number, eviction) =>
    this.#step((queues) => queues.evict(resource, number, eviction));

  readonly keep: StoreVerbs['keep'] = async (claim, record) => {
    if (!this.#database.checkNow()) return false;
    // A claim whose turn has come is not a holder by its row before a step has seen that.
    return this.#step((queues) => {
      const { records } = queues;
      return records.keep(claim, record) || (queues.holds(claim) && records.keep(claim, record));
    });
  };

  readonly recall: StoreVerbs['recall'] = async (resource) => {
    this.#database.checkNowAndThen();
    return this.#step(({ records }) => records.recall(resource), 'read');
  };

  readonly handOver: StoreVerbs['handOver'] = async (claim, ids) => {
    if (!this.#database.checkNow()) return { state: 'gone', why: 'store-reset' };
    const [status] = await this.#noted([claim], (queues) => [queues.handOver(claim, ids)]);
    return status as ClaimStatus;
  };

  async *list(prefix: string): AsyncIterable<string> {
    for (let from = toText(prefix); ; ) {
      const start = from;
      const page = await this.#step((queues) => queues.names(start, LIST_PAGE), 'read');
      for (const text of page) {
        const name = fromText(text);
        // In byte order, names that begin alike stand together.
        if (!name.startsWith(prefix)) return;
        yield name;
      }
      if (page.length < LIST_PAGE) return;
      from = next(page.at(-1) as string);
    }
  }

  async close(): Promise<void> {
    this.#wakes.close();
    await this.#database.close();
  }

  /** The only claim, if a statement about it may be a transaction by itself. */
  #lone([claim, more]: readonly Claim[]): Claim | undefined {
    return more || this.#parts.database ? undefined : claim;
  }

  #noted(
    claims: readonly Claim[],
    work: (queues: Queues) => readonly ClaimStatus[],
    lone?: Claim,
  ): Answer<readonly ClaimStatus[]> {
    return this.#database.untilFree((opened) => {
      const { queues } = opened;
      const sweeps = this.#parts.machine.nowUs() - this.#sweptAt >= SWEEP_US;
      const taken = lone && !sweeps && queues.takeAlone(lone);
      const all = (): readonly ClaimStatus[] => {
        if (sweeps) {
          this.#sweptAt = queues.now;
          queues.sweep();
        }
        return work(queues);
      };
      const statuses = taken ? [taken] : this.#transact(opened, all);
      this.#wakes.note(claims, statuses, queues.now);
      return statuses;
    });
  }

  #step<T>(work: (queues: Queues) => T, kind: 'read' | 'write' = 'write'): Answer<T> {
    return this.#database.untilFree((opened) => this.#transact(opened, work, kind));
  }

  /** One transaction, then the wake-ups. */
  #transact<T>(
    { connection, queues }: OpenedDatabase,
    work: (queues: Queues) => T,
    kind: 'read' | 'write' = 'write',
  ): T {
    const result = connection[kind](() => {
      queues.begin();
      return work(queues);
    });
    this.#wakes.send(queues.wakes);
    return result;
  }
}
