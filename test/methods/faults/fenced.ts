/** A text in a database, behind the fence of the lock that guards it. */
import { isLockError } from 'holdfast';
import { type FencingToken, sqlFence } from 'holdfast/fence';
import Database from 'libsql';

export class Fenced {
  readonly #database: Database.Database;
  readonly #fence = sqlFence({ dialect: 'sqlite' });

  /** Whoever opens a file second finds the text that is there. */
  constructor(path = ':memory:') {
    this.#database = new Database(path);
    this.#database.pragma('busy_timeout = 5000');
    this.#database.exec(`CREATE TABLE IF NOT EXISTS guarded (writer TEXT);
      INSERT INTO guarded SELECT 'nobody' WHERE NOT EXISTS (SELECT 1 FROM guarded)`);
  }

  get writer(): unknown {
    return (this.#database.prepare('SELECT writer FROM guarded').get() as { writer: string })
      .writer;
  }

  /** What becomes of the write: `written`, or the code of the fence's error. */
  write(token: FencingToken, writer: string): string {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      this.#fence.enter(this.#database, token);
      this.#database.prepare('UPDATE guarded SET writer = ?').run(writer);
      this.#database.exec('COMMIT');
      return 'written';
    } catch (error) {
      this.#database.exec('ROLLBACK');
      if (isLockError(error)) return error.code;
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }
}
