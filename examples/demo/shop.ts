import { type Database, openDatabase, transaction } from '../shared/open-database.ts';

/** What is on the shelf when a sale begins. */
export const ITEMS = 200;

export interface Takings {
  readonly sales: number;
  /** What the stock table says is left. */
  readonly left: number;
  /** Items that were sold to more than one customer. */
  readonly soldTwice: number;
}

/** One stock table, and a record of each sale. */
export class Shop {
  readonly database: Database;

  private constructor(database: Database) {
    this.database = database;
  }

  static async open(file: string): Promise<Shop> {
    return new Shop(await openDatabase(file));
  }

  fill(): void {
    this.database.exec('CREATE TABLE stock (item TEXT PRIMARY KEY, left INTEGER NOT NULL)');
    this.database.exec('CREATE TABLE sales (item INTEGER NOT NULL, seller TEXT NOT NULL)');
    this.database.prepare('INSERT INTO stock VALUES (?, ?)').run('lamp', ITEMS);
  }

  stock(): number {
    const row = this.database.prepare('SELECT left FROM stock').get() as { left: number };
    return row.left;
  }

  /** Sells the last item of a stock of this size. */
  sell(stock: number, seller: string): void {
    this.database.prepare('UPDATE stock SET left = ?').run(stock - 1);
    this.database.prepare('INSERT INTO sales VALUES (?, ?)').run(stock, seller);
  }

  transaction<T>(work: () => T): T {
    return transaction(this.database, work);
  }

  takings(): Takings {
    const items = 'SELECT item, count(*) AS times FROM sales GROUP BY item';
    const sql = `SELECT coalesce(sum(times), 0) AS sales,
      coalesce(sum(times > 1), 0) AS soldTwice FROM (${items})`;
    const row = this.database.prepare(sql).get() as { sales: number; soldTwice: number };
    return { sales: row.sales, soldTwice: row.soldTwice, left: this.stock() };
  }

  close(): void {
    this.database.close();
  }
}
