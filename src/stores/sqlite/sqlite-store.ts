/**
 * The verbs of the store: each is one write transaction, repeated while the file is busy, and then
 * the wake-ups.
 */
import type { Clock } from '../../base/clock.ts';
import { fromText, next, toText } from '../../clients/sql/name-text.ts';
import type { WatchFile } from '../../clients/sqlite/wake-file.ts';
import type { Kept, RecordTerms } from '../../contract/records.ts';
import type {
  Claim,
  ClaimStatus,
  Eviction,
  Queue,
  Store,
  Subscribed,
  Traits,
  Wake,
} from '../../contract/store.ts';
import { LockDatabase, type LockDatabaseParts } from './lock-database.ts';
import type { Queues } from './queues.ts';
import type { Records } from './records.ts';
import { SqliteWakes } from './wakes.ts';

export interface SqliteParts extends LockDatabaseParts {
  readonly watchFile: WatchFile;
  /** The clock of its timers; lives count on that of the machine. */
  readonly clock: Clock;
}

const SWEEP_US = 60_000_000;

const LIST_PAGE = 100;

type QueueWork<T> = (queues: Queues, records: Records) => T;

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
    synchronous: true,
    sequential: true,
    hintsGrant: true,
  };
  readonly #parts: SqliteParts;
  readonly #database: LockDatabase;
  readonly #wakes: SqliteWakes;
  #sweptAt = 0;

  constructor(parts: SqliteParts) {
    this.#parts = parts;
    const path = (): string => this.#database.opened?.connection.file ?? parts.file;
    this.#wakes = new SqliteWakes(path, parts.watchFile, parts.clock);
    this.#database = new LockDatabase(parts, this.#wakes.address);
  }

  get lineage(): string {
    return this.#database.opened?.lineage ?? 'sqlite';
  }

  async claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    this.#database.checkNowAndThen();
    return this.#noted(claims, (queues) => queues.claim(claims));
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

  async release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<boolean[]> {
    const [alone] = claims;
    // On the program's own connection it could be part of a transaction of the program.
    if (claims.length === 1 && alone && !after?.ms && !this.#parts.database) {
      const left = await this.#database.untilFree(({ queues }) => queues.releaseAlone(alone));
      if (left) return [true];
    }
    return this.#step((queues) => queues.release(claims, after?.ms ?? 0));
  }

  async inspect(resource: string): Promise<Queue> {
    return this.#step((queues) => queues.inspect(resource));
  }

  watch(claim: Claim, wake: Wake): Subscribed {
    return this.#wakes.watch(claim, wake);
  }

  async downgrade(claim: Claim): Promise<ClaimStatus> {
    return this.#step((queues) => queues.downgrade(claim));
  }

  async evict(resource: string, number: bigint, eviction: Eviction): Promise<boolean> {
    return this.#step((queues) => queues.evict(resource, number, eviction));
  }

  async keep(claim: Claim, record: RecordTerms): Promise<boolean> {
    if (!this.#database.checkNow()) return false;
    // A claim whose turn has come is not a holder by its row before a step has seen that.
    return this.#step(
      (queues, records) =>
        records.keep(claim, record) || (queues.holds(claim) && records.keep(claim, record)),
    );
  }

  async recall(resource: string): Promise<Kept | undefined> {
    this.#database.checkNowAndThen();
    return this.#read((_, records) => records.recall(resource));
  }

  async *list(prefix: string): AsyncIterable<string> {
    for (let from = toText(prefix); ; ) {
      const start = from;
      const page = await this.#read((queues) => queues.names(start, LIST_PAGE));
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

  async #noted(
    claims: readonly Claim[],
    work: QueueWork<readonly ClaimStatus[]>,
  ): Promise<readonly ClaimStatus[]> {
    const { statuses, at } = await this.#step((queues, records) => {
      this.#sweep(queues, records);
      return { statuses: work(queues, records), at: queues.now };
    });
    this.#wakes.note(claims, statuses, at);
    return statuses;
  }

  #read<T>(work: QueueWork<T>): Promise<T> {
    return this.#step(work, 'read');
  }

  /** One transaction, then the wake-ups. */
  #step<T>(work: QueueWork<T>, kind: 'read' | 'write' = 'write'): Promise<T> {
    return this.#database.untilFree(({ connection, queues, records }) => {
      const result = connection[kind](() => {
        queues.begin();
        return work(queues, records);
      });
      this.#wakes.send(queues.wakes);
      return result;
    });
  }

  /** Work that need not be done at every step. */
  #sweep(queues: Queues, records: Records): void {
    const now = this.#parts.machine.nowUs();
    if (this.#sweptAt > 0 && now - this.#sweptAt < SWEEP_US) return;
    this.#sweptAt = now;
    queues.sweep();
    records.sweep();
  }
}
