/**
 * The verbs of the store: each is one write transaction, repeated while the file is busy, and then
 * the wake-ups.
 *
 * The first verb opens the file. If it has been replaced or deleted since, which a heartbeat
 * notices, this process's claims were in a file that no process will see again: the store reports
 * them as lost to a store reset, and opens the new file.
 */
import { statSync } from 'node:fs';
import { isLockError } from '../../base/errors.ts';
import { ClosedError, StoreError } from '../../contract/errors.ts';
import type { Kept } from '../../contract/records.ts';
import type { Claim, ClaimStatus, Queue, Store, Traits, Wake } from '../../contract/store.ts';
import { fromText, next, toText } from '../name-text.ts';
import { Client, openClient, type SqliteDatabase, untilFree } from './client.ts';
import { isBusy } from './errors.ts';
import { refuseNetwork } from './filesystem.ts';
import { checkLayout, joinFile } from './layout.ts';
import type { Machine } from './machine.ts';
import { Queues } from './queues.ts';
import { joinRecords, Records } from './records.ts';
import type { Layout } from './schema.ts';
import { prepareAll } from './statements.ts';
import { TRAITS } from './traits.ts';
import type { WatchFile } from './wake-file.ts';
import { Wakes } from './wakes.ts';

export interface SqliteParts {
  readonly file: string;
  /** The program's own object; it is never closed here. */
  readonly database?: SqliteDatabase | undefined;
  readonly maxWaiters: number;
  /** Longest queue that is read whole. */
  readonly readWhole: number;
  readonly busyMs: number;
  readonly trustFileSystem: boolean;
  readonly machine: Machine;
  readonly layouts: readonly Layout[];
  readonly watchFile: WatchFile;
}

const SWEEP_US = 60_000_000;

/** How often a claim checks whether the file is still the same; heartbeats always do. */
const LOOK_US = 1_000_000;

const LIST_PAGE = 100;

interface Opened {
  readonly client: Client;
  readonly queues: Queues;
  readonly records: Records;
  readonly identity: string;
  readonly lineage: string;
}

export class SqliteStore implements Store {
  readonly name = 'sqlite';
  readonly traits: Traits = TRAITS;
  readonly #parts: SqliteParts;
  readonly #wakes: Wakes;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  /** Claims of this process that were in a file which is gone. */
  readonly #lost = new Set<string>();
  #closed = false;
  #sweptAt = 0;
  #lookedAt = 0;

  constructor(parts: SqliteParts) {
    this.#parts = parts;
    this.#wakes = new Wakes({
      watchFile: parts.watchFile,
      database: () => this.#opened?.client.file ?? parts.file,
      look: (told) => this.#read((queues) => queues.look(told)),
      inUse: () => this.#read((queues) => queues.addresses()),
      seqOf: (id) => this.#opened?.queues.rows.seqs.get(id),
    });
  }

  get lineage(): string {
    return this.#opened?.lineage ?? 'sqlite';
  }

  async claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    this.#lookNowAndThen();
    const statuses = await this.#step((queues, records) => {
      this.#sweep(queues, records);
      return queues.claim(claims);
    });
    this.#wakes.note(claims, statuses);
    return statuses;
  }

  async renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    if (this.#isReplaced()) {
      if (this.#parts.database) return claims.map(() => ({ state: 'gone', why: 'store-reset' }));
      this.#reset();
    }
    const statuses = await this.#step((queues, records) => {
      this.#sweep(queues, records);
      return queues.renew(claims);
    });
    this.#wakes.note(claims, statuses);
    return statuses;
  }

  async release(
    claims: readonly Claim[],
    after?: { readonly ms: number },
  ): Promise<readonly boolean[]> {
    return this.#step((queues) => queues.release(claims, after?.ms ?? 0));
  }

  async inspect(resource: string): Promise<Queue> {
    return this.#step((queues) => queues.inspect(resource));
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    return this.#wakes.watch(claim, wake);
  }

  async downgrade(claim: Claim): Promise<ClaimStatus> {
    return this.#step((queues) => queues.downgrade(claim));
  }

  async evict(
    resource: string,
    number: bigint,
    options: { readonly reason: string; readonly now: boolean },
  ): Promise<boolean> {
    return this.#step((queues) => queues.evict(resource, number, options));
  }

  async keep(
    claim: Claim,
    record: { readonly text: string; readonly ms: number },
  ): Promise<boolean> {
    if (this.#isReplaced()) {
      if (this.#parts.database) return false;
      this.#reset();
    }
    return this.#step((queues, records) => {
      const holds = queues.holds(claim);
      if (holds) records.keep(claim.resource, record);
      return holds;
    });
  }

  async recall(resource: string): Promise<Kept | undefined> {
    this.#lookNowAndThen();
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
    this.#closed = true;
    await this.#opening?.catch(() => {});
    this.#wakes.close();
    if (!this.#parts.database) this.#opened?.client.close();
    this.#opened = undefined;
  }

  /** One transaction, then the wake-ups. */
  #step<T>(work: (queues: Queues, records: Records) => T): Promise<T> {
    return this.#untilFree(({ client, queues, records }) => {
      queues.rows.told = [];
      const result = client.write(() => work(queues, records));
      this.#wakes.tell(queues.rows.told);
      return result;
    });
  }

  #read<T>(work: (queues: Queues, records: Records) => T): Promise<T> {
    return this.#untilFree(({ client, queues, records }) =>
      client.read(() => work(queues, records)),
    );
  }

  async #untilFree<T>(step: (opened: Opened) => T): Promise<T> {
    if (!this.#opened) await this.#open();
    return untilFree(this.#parts.file, this.#parts.busyMs, () => {
      if (this.#opened) return this.#try(this.#opened, step);
      if (this.#closed) throw new ClosedError('This store is closed');
      const message = `The lock database ${this.#parts.file} was replaced meanwhile.`;
      throw new StoreError(message, { retryable: true, outcome: 'failed' });
    });
  }

  /** If a newer version has changed the file meanwhile, that is why the step failed. */
  #try<T>(opened: Opened, step: (opened: Opened) => T): T {
    try {
      return step(opened);
    } catch (error) {
      if (!isBusy(error) && !isLockError(error)) this.#refuseNewer(opened);
      throw error;
    }
  }

  #refuseNewer({ client }: Opened): void {
    try {
      checkLayout(client, this.#parts.layouts);
    } catch (error) {
      // Other trouble with the file does not explain the first error.
      if (isLockError(error)) throw error;
    }
  }

  #open(): Promise<Opened> {
    if (this.#closed) return Promise.reject(new ClosedError('This store is closed'));
    this.#opening ??= this.#join().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #join(): Promise<Opened> {
    const { file, database, busyMs } = this.#parts;
    if (!this.#parts.trustFileSystem) refuseNetwork(file);
    const client = database ? new Client(database) : await openClient(file, busyMs);
    try {
      const { machine } = this.#parts;
      const lineage = await untilFree(file, busyMs, () =>
        client.write(() => {
          const found = joinFile(client, this.#parts);
          joinRecords(client, machine);
          return found;
        }),
      );
      const { address } = this.#wakes;
      const statements = await untilFree(file, busyMs, () => prepareAll(client));
      const queues = new Queues({ ...this.#parts, statements, address, lost: this.#lost });
      const records = await untilFree(file, busyMs, () => new Records(client, machine));
      this.#opened = { client, queues, records, lineage, identity: identityOf(client.file) };
      this.#sweptAt = 0;
      return this.#opened;
    } catch (error) {
      if (!database) client.close();
      throw error;
    }
  }

  #lookNowAndThen(): void {
    const due = this.#parts.machine.nowUs() - this.#lookedAt > LOOK_US;
    if (due && this.#isReplaced()) this.#reset();
  }

  #isReplaced(): boolean {
    if (!this.#opened) return false;
    this.#lookedAt = this.#parts.machine.nowUs();
    return identityOf(this.#opened.client.file) !== this.#opened.identity;
  }

  /** Gives up the file that was opened, so that the next step opens the one that is there now. */
  #reset(): void {
    if (!this.#opened) return;
    const { client, queues } = this.#opened;
    if (this.#parts.database) {
      const message = `The lock database ${client.file} was replaced under the database object.`;
      throw new StoreError(`${message} Open it again.`, { retryable: false, outcome: 'failed' });
    }
    for (const id of queues.rows.seqs.keys()) this.#lost.add(id);
    this.#opened = undefined;
    client.close();
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

/** Which file is at this path; empty if there is none. */
function identityOf(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? `${stats.dev}:${stats.ino}` : '';
}
