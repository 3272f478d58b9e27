import type { Lease } from 'holdfast';
import { sqlFence } from 'holdfast/fence';
import { openDatabase, transaction } from '../shared/open-database.ts';
import type { Shop } from './shop.ts';

interface Row {
  readonly n: number;
  readonly version: number;
}

export async function openSqliteShop(file: string): Promise<Shop> {
  const database = await openDatabase(file);
  const fence = sqlFence({ dialect: 'sqlite' });

  function row(): Row {
    return database.prepare('SELECT n, version FROM stock').get() as Row;
  }

  function update(left: number): void {
    database.prepare('UPDATE stock SET n = ?').run(left);
  }

  /** Without a lease, each statement is on its own. */
  function fenced<T>(lease: Lease | undefined, work: () => T): T {
    if (!lease) return work();
    return transaction(database, () => {
      fence.enter(database, lease);
      return work();
    });
  }

  return {
    read: async (lease) => fenced(lease, () => row().n),
    write: async (left, lease) => fenced(lease, () => update(left)),

    // SQLite has no lock for a row: BEGIN IMMEDIATE locks the whole file against other writers.
    async sellLocked(think) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const { n } = row();
        if (n > 0) {
          await think();
          update(n - 1);
        }
        database.exec('COMMIT');
        return n > 0;
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },

    async sellVersioned(think) {
      const sql = 'UPDATE stock SET n = ?, version = version + 1 WHERE version = ?';
      for (;;) {
        const { n, version } = row();
        if (n === 0) return false;
        await think();
        if (Number(database.prepare(sql).run(n - 1, version).changes) === 1) return true;
      }
    },

    async fill(items) {
      database.exec('CREATE TABLE IF NOT EXISTS stock (n INTEGER, version INTEGER)');
      database.exec('DELETE FROM stock');
      database.prepare('INSERT INTO stock VALUES (?, 0)').run(items);
    },

    async close() {
      database.close();
    },
  };
}
