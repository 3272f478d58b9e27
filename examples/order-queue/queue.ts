/**
 * A queue in a table. Like most queues it delivers at least once: a message that was taken comes
 * back unless it is removed in time, since the queue cannot know whether its consumer is alive.
 */
import { type Database, openDatabase } from '../shared/open-database.ts';

export interface Message {
  readonly id: number;
  readonly orderNumber: number;
}

/** How long a message stays hidden from the others once it was taken, in ms. */
const HIDDEN_MS = 1000;

export class OrderQueue {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async open(file: string): Promise<OrderQueue> {
    const database = await openDatabase(file);
    database.exec(`CREATE TABLE IF NOT EXISTS message
      (id INTEGER PRIMARY KEY, order_number INTEGER NOT NULL, hidden_until INTEGER NOT NULL)`);
    // A parcel a row, and on purpose nothing that would forbid a second one.
    database.exec('CREATE TABLE IF NOT EXISTS parcel (order_number INTEGER NOT NULL)');
    return new OrderQueue(database);
  }

  put(orderNumber: number): void {
    const sql = 'INSERT INTO message (order_number, hidden_until) VALUES (?, 0)';
    this.#database.prepare(sql).run(orderNumber);
  }

  take(): Message | undefined {
    const now = Date.now();
    const sql = `UPDATE message SET hidden_until = ? WHERE id =
      (SELECT id FROM message WHERE hidden_until <= ? ORDER BY id LIMIT 1)
      RETURNING id, order_number AS orderNumber`;
    return this.#database.prepare(sql).all(now + HIDDEN_MS, now)[0] as Message | undefined;
  }

  remove({ id }: Message): void {
    this.#database.prepare('DELETE FROM message WHERE id = ?').run(id);
  }

  get size(): number {
    return this.#count('SELECT count(*) AS n FROM message');
  }

  ship(orderNumber: number): void {
    this.#database.prepare('INSERT INTO parcel VALUES (?)').run(orderNumber);
  }

  /** How many parcels went out, and for how many orders. */
  parcels(): { readonly parcels: number; readonly orders: number } {
    return {
      parcels: this.#count('SELECT count(*) AS n FROM parcel'),
      orders: this.#count('SELECT count(DISTINCT order_number) AS n FROM parcel'),
    };
  }

  close(): void {
    this.#database.close();
  }

  #count(sql: string): number {
    return (this.#database.prepare(sql).get() as { n: number }).n;
  }
}
