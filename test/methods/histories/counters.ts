/** Counters in a database of their own, each behind the fence of the lock of its name. */
import { isLockError } from 'holdfast';
import { type FencingToken, sqlFence } from 'holdfast/fence';
import type { CounterOutput } from 'holdfast/testkit';
import Database from 'libsql';

export class Counters {
  readonly #database: Database.Database;
  readonly #fence = sqlFence({ dialect: 'sqlite' });
  readonly #fenced: boolean;

  /** @param options.fenced false: writes whatever the token, as a control. */
  constructor(path: string, { fenced = true }: { readonly fenced?: boolean } = {}) {
    this.#fenced = fenced;
    this.#database = new Database(path);
    this.#database.pragma('busy_timeout = 0');
    this.#database.pragma('synchronous = off');
  }

  static create(path: string): Counters {
    const database = new Database(path);
    database.pragma('journal_mode = WAL');
    database.exec('CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL)');
    database.exec(sqlFence({ dialect: 'sqlite' }).schema);
    database.close();
    return new Counters(path);
  }

  /** What it is, with nobody at work. */
  read(name: string): number {
    const row = this.#database.prepare('SELECT value FROM counter WHERE name = ?').get(name);
    return (row as { readonly value: number } | undefined)?.value ?? 0;
  }

  enter(lease: FencingToken, name: string): Promise<CounterOutput> {
    return this.#transaction(lease, () => this.read(name));
  }

  /** The value comes from outside of the transaction: only the fence keeps it from being old. */
  write(lease: FencingToken, name: string, value: number): Promise<CounterOutput> {
    const statement = `INSERT INTO counter VALUES (?, ?)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
    return this.#transaction(lease, () => {
      this.#database.prepare(statement).run(name, value);
      return value;
    });
  }

  close(): void {
    this.#database.close();
  }

  /** From the beginning to the end without an await: the tasks of a process share a connection. */
  async #transaction(lease: FencingToken, work: () => number): Promise<CounterOutput> {
    // A process may be stopped in its transaction; waiting for it must not block our event loop.
    while (!this.#begin()) await new Promise((resolve) => setTimeout(resolve, 1));
    try {
      if (this.#fenced) this.#fence.enter(this.#database, lease);
      const value = work();
      this.#database.exec('COMMIT');
      return value;
    } catch (error) {
      this.#database.exec('ROLLBACK');
      if (isLockError(error, 'STALE_TOKEN')) return 'stale';
      throw error;
    }
  }

  #begin(): boolean {
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (error instanceof Error && /locked|busy/i.test(error.message)) return false;
      throw error;
    }
  }
}
