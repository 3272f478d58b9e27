/**
 * A process of the demo. It takes the lock, sells the last lamp when it is told to, and holds on.
 * Like much code it does not look at its lease before it writes.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { isLockError } from '../../base/errors.ts';
import { openSqlite, type SqliteDatabase } from '../../clients/sqlite/connection.ts';
import { sqlFence } from '../../fences/index.ts';
import type { SqliteConnection } from '../../fences/sql/sqlite.ts';
import { createLocks } from '../../locks.ts';
import { sqliteStore } from '../../stores/sqlite/index.ts';
import { printJson } from '../output.ts';

export const TTL_MS = 1_000;

/** What an actor says, a line each. */
export interface Said {
  readonly token?: string;
  /** Whether its lease was held, and its write went through. */
  readonly held?: boolean;
  readonly sold?: boolean;
}

/** @param folder with the files of the locks and of the shop. */
export async function act(name: string, folder: string): Promise<number> {
  const locks = createLocks(sqliteStore(join(folder, 'locks.db')), { ttl: TTL_MS, label: name });
  // Every binding has what the fence needs.
  const shop = (await openSqlite(join(folder, 'shop.db'))) as SqliteDatabase & SqliteConnection;
  const fence = sqlFence({ dialect: 'sqlite' });
  const lease = await locks.mutex('lamp').acquire();
  await printJson({ token: String(lease.token) });
  await once(process.stdin, 'data');
  const { held } = lease;
  const sold = inTransaction(shop, () => {
    fence.enter(shop, lease);
    shop.prepare('UPDATE stock SET lamps = lamps - 1').run();
  });
  await printJson({ held, sold });
  // Its end is the end of the demo, which kills it.
  await once(process.stdin, 'close');
  return 0;
}

/** False if the fence refuses it. */
function inTransaction(shop: SqliteDatabase, work: () => void): boolean {
  shop.exec('BEGIN IMMEDIATE');
  try {
    work();
    shop.exec('COMMIT');
    return true;
  } catch (error) {
    shop.exec('ROLLBACK');
    if (isLockError(error, 'STALE_TOKEN')) return false;
    throw error;
  }
}
