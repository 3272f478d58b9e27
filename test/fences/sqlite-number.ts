/** A number behind a fence, for the suite of fences: one row, in a database in memory. */
import { sqlFence } from 'holdfast/fence';
import type { FenceFixture } from 'holdfast/testkit';
import Database from 'libsql';

export function sqliteNumber(resource: string): FenceFixture {
  const db = new Database(':memory:');
  const fence = sqlFence({ dialect: 'sqlite' });
  db.exec('CREATE TABLE numbers (id TEXT PRIMARY KEY, n INTEGER)');
  db.prepare('INSERT INTO numbers VALUES (?, 0)').run(resource);
  const look = (): number => {
    const row = db.prepare('SELECT n FROM numbers WHERE id = ?').get(resource);
    return (row as { n: number }).n;
  };
  const within = <T>(work: () => T): T => {
    db.exec('BEGIN');
    try {
      const done = work();
      db.exec('COMMIT');
      return done;
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  };
  return {
    look: async () => look(),
    adopt: async (lease) => within(() => fence.adopt(db, lease)),
    async enter(lease) {
      const entered = <T>(work: () => T): T =>
        within(() => {
          fence.enter(db, lease);
          return work();
        });
      entered(() => {});
      const change = db.prepare('UPDATE numbers SET n = ? WHERE id = ?');
      return {
        read: async () => entered(look),
        write: async (n) => entered(() => void change.run(n, resource)),
      };
    },
    close: async () => {
      db.close();
    },
  };
}
