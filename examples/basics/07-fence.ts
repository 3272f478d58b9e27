/** A fence: a holder who does not know that its lock is lost cannot write any more. */
import { createLocks, isLockError, type Lease } from 'holdfast';
import { sqlFence } from 'holdfast/fence';
import { check } from '../shared/check.ts';
import { openDatabase, transaction } from '../shared/open-database.ts';
import { store } from '../shared/store.ts';

await using locks = createLocks(store);
const fence = sqlFence({ dialect: 'sqlite' });

const database = await openDatabase(':memory:');
database.exec('CREATE TABLE stock (item TEXT PRIMARY KEY, left INTEGER NOT NULL)');
database.exec("INSERT INTO stock VALUES ('lamp', 10)");

function read(lease: Lease): number {
  return transaction(database, () => {
    // First in every transaction, also in one that only reads: from here on, older holders are out.
    fence.enter(database, lease);
    const row = database.prepare('SELECT left FROM stock').get() as { left: number };
    return row.left;
  });
}

function write(lease: Lease, left: number): void {
  transaction(database, () => {
    fence.enter(database, lease);
    database.prepare('UPDATE stock SET left = ?').run(left);
  });
}

// Without a heartbeat, as if this process stood still: the lock ends although the work goes on.
const stalled = await locks.mutex('stock:lamp', { ttl: '200ms', heartbeat: false }).acquire();
const old = read(stalled);

await locks.mutex('stock:lamp').run((lease) => write(lease, read(lease) - 3));

try {
  write(stalled, old - 1);
} catch (error) {
  if (!isLockError(error, 'STALE_TOKEN')) throw error;
  console.log(`refused: ${error.message}`);
}
const row = database.prepare('SELECT left FROM stock').get() as { left: number };
check(row.left === 7, `3 of 10 are sold, ${row.left} are left`);
database.close();
