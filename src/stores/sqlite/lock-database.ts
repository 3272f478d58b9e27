/**
 * The file of the locks: opened by the first step, and given up when another is in its place.
 *
 * If a heartbeat notices that the file was replaced or deleted, this process's claims were in a
 * file that no process will see again: they are lost to a store reset, and the next step opens the
 * new file.
 * What would break it: a step in a file that is no longer at its path, after that was noticed.
 */
import { statSync } from 'node:fs';
import { Answer } from '../../base/answer.ts';
import { isLockError } from '../../base/errors.ts';
import {
  FileConnection,
  openConnection,
  type SqliteDatabase,
  untilFree,
} from '../../clients/sqlite/connection.ts';
import { isBusy } from '../../clients/sqlite/errors.ts';
import { refuseNetwork } from '../../clients/sqlite/file-system.ts';
import { ClosedError, permanentFailure, temporaryFailure } from '../../contract/errors.ts';
import { checkLayout, joinFile } from './layout.ts';
import { Queues, type QueuesParts } from './queues.ts';
import type { Layout } from './schema.ts';

export interface LockDatabaseParts extends Omit<QueuesParts, 'address' | 'lost'> {
  readonly file: string;
  /** The program's own object; it is never closed here. */
  readonly database?: SqliteDatabase | undefined;
  readonly busyMs: number;
  readonly trustFileSystem: boolean;
  readonly layouts: readonly Layout[];
}

export interface OpenedDatabase {
  readonly connection: FileConnection;
  readonly queues: Queues;
  readonly identity: string;
  readonly lineage: string;
}

/** How often a claim checks whether the file is still the same; heartbeats always do. */
const LOOK_US = 1_000_000;

export class LockDatabase {
  readonly #parts: LockDatabaseParts;
  /** Where this process listens. */
  readonly #address: string;
  /** Claims of this process that were in a file which is gone. */
  readonly #lost = new Set<string>();
  #opening: Promise<OpenedDatabase> | undefined;
  #opened: OpenedDatabase | undefined;
  #closed = false;
  #lookedAt = 0;

  constructor(parts: LockDatabaseParts, address: string) {
    this.#parts = parts;
    this.#address = address;
  }

  /** Undefined before the first step, and after the file was given up. */
  get opened(): OpenedDatabase | undefined {
    return this.#opened;
  }

  /** Opens the file, and repeats the step while it is busy. */
  untilFree<T>(step: (opened: OpenedDatabase) => T): Answer<T> {
    if (this.#opened) return this.#once(step);
    return Answer.from(this.#open()).chain(() => this.#once(step));
  }

  #once<T>(step: (opened: OpenedDatabase) => T): Answer<T> {
    return untilFree(this.#parts.file, this.#parts.busyMs, () => {
      if (this.#opened) return this.#try(this.#opened, step);
      if (this.#closed) throw new ClosedError('This store is closed');
      throw temporaryFailure(`The lock database ${this.#parts.file} was replaced meanwhile.`);
    });
  }

  /**
   * Gives up a file that was replaced. False if it is the program's own database that no longer has
   * its file: the claims in it are lost.
   */
  checkNow(): boolean {
    const opened = this.#opened;
    if (!opened) return true;
    const { connection, queues, identity } = opened;
    this.#lookedAt = this.#parts.machine.nowUs();
    if (identityOf(connection.file) === identity) return true;
    if (this.#parts.database) return false;
    for (const id of queues.known.keys()) this.#lost.add(id);
    // The next step opens the file that is there now.
    this.#opened = undefined;
    connection.close();
    return true;
  }

  /** At most once a second. @throws StoreError if the program's own database lost its file. */
  checkNowAndThen(): void {
    const due = this.#parts.machine.nowUs() - this.#lookedAt > LOOK_US;
    if (!due || this.checkNow()) return;
    const message = `The lock database ${this.#parts.file} was replaced under the database object.`;
    throw permanentFailure(`${message} Open it again.`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#opening?.catch(() => {});
    if (!this.#parts.database) this.#opened?.connection.close();
    this.#opened = undefined;
  }

  /** If a newer version has changed the file meanwhile, that is why the step failed. */
  #try<T>(opened: OpenedDatabase, step: (opened: OpenedDatabase) => T): T {
    try {
      return step(opened);
    } catch (error) {
      if (!isBusy(error) && !isLockError(error)) this.#refuseNewer(opened);
      throw error;
    }
  }

  #refuseNewer({ connection }: OpenedDatabase): void {
    try {
      checkLayout(connection, this.#parts.layouts);
    } catch (error) {
      // Other trouble with the file does not explain the first error.
      if (isLockError(error)) throw error;
    }
  }

  #open(): Promise<OpenedDatabase> {
    if (this.#closed) return Promise.reject(new ClosedError('This store is closed'));
    this.#opening ??= this.#join().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #join(): Promise<OpenedDatabase> {
    const { file, database, busyMs } = this.#parts;
    if (!this.#parts.trustFileSystem) refuseNetwork(file);
    const connection = database ? new FileConnection(database) : await openConnection(file, busyMs);
    try {
      const lineage = await untilFree(file, busyMs, () =>
        connection.write(() => joinFile(connection, this.#parts)),
      );
      const parts = { ...this.#parts, address: this.#address, lost: this.#lost };
      const queues = await untilFree(file, busyMs, () => new Queues(connection, parts));
      const identity = identityOf(connection.file);
      this.#opened = { connection, queues, lineage, identity };
      return this.#opened;
    } catch (error) {
      if (!database) connection.close();
      throw error;
    }
  }
}

/** Which file is at this path; empty if there is none. */
function identityOf(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? `${stats.dev}:${stats.ino}` : '';
}
