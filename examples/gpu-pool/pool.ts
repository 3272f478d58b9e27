/** Which jobs run on the GPUs, as the GPUs see it: a table that knows nothing of the semaphore. */
import { type Database, openDatabase, transaction } from '../shared/open-database.ts';

export class Pool {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async open(file: string): Promise<Pool> {
    const database = await openDatabase(file);
    database.exec(`CREATE TABLE IF NOT EXISTS job (name TEXT PRIMARY KEY,
      gpus INTEGER NOT NULL, busy INTEGER NOT NULL, ended INTEGER NOT NULL)`);
    return new Pool(database);
  }

  /** Begins a job, and notes how many GPUs are busy with it. */
  begin(name: string, gpus: number): void {
    const others = 'SELECT coalesce(sum(gpus), 0) FROM job WHERE ended = 0';
    const sql = `INSERT INTO job SELECT ?, ?, ? + (${others}), 0`;
    transaction(this.#database, () => this.#database.prepare(sql).run(name, gpus, gpus));
  }

  end(name: string): void {
    this.#database.prepare('UPDATE job SET ended = 1 WHERE name = ?').run(name);
  }

  /** The jobs in the order in which they began, and the most GPUs that were busy at a time. */
  history(): { readonly names: readonly string[]; readonly most: number } {
    const sql = 'SELECT name, busy FROM job ORDER BY rowid';
    const rows = this.#database.prepare(sql).all() as { name: string; busy: number }[];
    return { names: rows.map(({ name }) => name), most: Math.max(...rows.map(({ busy }) => busy)) };
  }

  close(): void {
    this.#database.close();
  }
}
