/** Sells what is in stock, by each way of locking, until nothing is left. */
import { createLocks, isLockError, type Lease } from 'holdfast';
import { sqlFence } from 'holdfast/fence';
import { changeState, isRetryable, optimistic, rowLock } from 'holdfast/sql';
import { sqliteStore } from 'holdfast/sqlite';
import { given, hear, sleep, tell } from '../../methods/processes/children/talk.ts';
import { paced } from '../../support/this-run.ts';
import { type Client, MYSQL_CLIENTS, numberLeft, on, POSTGRES_CLIENTS } from '../clients.ts';

interface Stock {
  readonly n: number;
}

/** True if it sold one, false if there is none left, undefined if it has to be tried again. */
type Sell = () => Promise<boolean | undefined>;

const { name, url, file, seats } = given<{
  readonly name: string;
  readonly url: string;
  /** Where locks are shared. */
  readonly file: string;
  readonly seats: readonly string[];
}>();

const open = { ...POSTGRES_CLIENTS, ...MYSQL_CLIENTS }[name];
if (!open) throw new Error(`There is no client ${name}.`);
const client: Client = open(url);
const table = 'stock';
/** The next seat to ask for. */
let at = 0;
let sold = 0;
/** Short, so that who stands still for half a second is replaced. */
const TTL_MS = paced(300);
/** Long enough for others to come in between. */
const WORK_MS = 5;
const locks = createLocks(sqliteStore(file), { ttl: TTL_MS });
const fence = sqlFence({ dialect: client.dialect });

const ways: Readonly<Record<string, Sell>> = {
  'row lock': () =>
    client.transaction(async (tx) => {
      const { n } = await rowLock<Stock>(tx, { table, key: { id: 'row lock' } });
      await sleep(WORK_MS);
      if (n === 0) return false;
      await on(tx).count('UPDATE stock SET n = ? WHERE id = ?', [n - 1, 'row lock']);
      return true;
    }),
  version: async () => {
    const options = { table, key: { id: 'version' }, version: 'version' };
    const { changed } = await optimistic<Stock>(client.db, options, async ({ n }) => {
      await sleep(WORK_MS);
      return n === 0 ? undefined : { n: n - 1 };
    });
    return changed;
  },
  state: async () => {
    await sleep(WORK_MS);
    const id = seats[at++];
    if (id === undefined) return false;
    const change = { from: { state: 0 }, to: { state: 1 } };
    return (await changeState(client.db, { table, key: { id }, ...change })) || undefined;
  },
  fence: () => locks.mutex('stock').run(sellUnderFence),
};

/** Reads in one transaction and writes in another; in between it may have lost the lock. */
async function sellUnderFence(lease: Lease): Promise<boolean | undefined> {
  const n = await client.transaction(async (tx) => {
    await fence.enter(tx, lease);
    return numberLeft(tx, 'fence');
  });
  if (n === 0) return false;
  if (Math.random() < 0.2) block(500);
  await client.transaction(async (tx) => {
    await fence.enter(tx, lease);
    await on(tx).count('UPDATE stock SET n = ? WHERE id = ?', [n - 1, 'fence']);
  });
  sold++;
  return undefined;
}

function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

for (const [way, sell] of Object.entries(ways)) {
  await tell({ type: 'ready' });
  await hear();
  sold = 0;
  for (let more: boolean | undefined; more !== false; ) {
    try {
      more = await sell();
      if (more) sold++;
    } catch (error) {
      const late = isLockError(error, 'STALE_TOKEN') || isLockError(error, 'LEASE_LOST');
      if (!late && !isRetryable(error) && !isLockError(error, 'CONFLICT')) throw error;
    }
  }
  await tell({ type: 'sold', way, sold });
}
await locks.close();
await client.close();
process.disconnect?.();
