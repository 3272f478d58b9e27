/**
 * A transaction of one UPDATE in SQLite, bare and behind the fence: two statements are added, of
 * which one writes a row that is in the same page or the next.
 */
import { join } from 'node:path';
import { sqlFence } from 'holdfast/fence';
import { openBare } from '../bare-sqlite.ts';
import { scratchFolder } from '../processes.ts';
import { timedSync } from '../result.ts';
import { pairs } from './row.ts';

const WRITES = 10_000;

const db = openBare(join(scratchFolder(), 'data.db'));
db.exec('CREATE TABLE stock (sku TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID');
db.prepare('INSERT INTO stock VALUES (?, 0)').run('one');
const update = db.prepare('UPDATE stock SET n = n + 1 WHERE sku = ?');
const fence = sqlFence({ dialect: 'sqlite' });
const lease = { resource: 'stock:one', lineage: 'bench', token: 1n };

function inTransaction(work: () => unknown): void {
  db.exec('BEGIN IMMEDIATE');
  work();
  db.exec('COMMIT');
}

await pairs('fences/sqlite', [
  {
    name: 'floor: BEGIN, UPDATE, COMMIT',
    round: async () => timedSync(WRITES, () => inTransaction(() => update.run('one'))),
  },
  {
    name: 'the same with fence.enter',
    round: async () =>
      timedSync(WRITES, () =>
        inTransaction(() => {
          fence.enter(db as Parameters<typeof fence.enter>[0], lease);
          update.run('one');
        }),
      ),
  },
]);
db.close();
