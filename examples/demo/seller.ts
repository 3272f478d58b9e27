/**
 * One seller: a process of its own, which knows of the others only through the database and the
 * lock. It never looks whether it still holds the lock, so that the fence has something to do.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError, type Lease, type StaleTokenError } from 'holdfast';
import { connect } from 'holdfast/connect';
import { sqlFence } from 'holdfast/fence';
import { hearOrders, leave, readPlan, tell } from '../shared/member.ts';
import type { SellerOrder, SellerPlan, SellerReport } from './seller-plan.ts';
import { Shop } from './shop.ts';

const plan = readPlan<SellerPlan>();
const shop = await Shop.open(plan.shopFile);
const { stage, name: label, ttlMs: ttl } = plan;
const locks = await connect(stage.store, { prefix: stage.prefix, label, ttl });
const mutex = locks.mutex('stock:lamp');
const fence = sqlFence({ dialect: 'sqlite' });
const report = tell<SellerReport>;

let pauseNext = false;
let goOn = (): void => {};

hearOrders<SellerOrder>({
  sell: () => void sellAll(),
  pause: () => {
    pauseNext = true;
  },
  'go on': () => goOn(),
});
await report({ event: 'ready' });

async function sellAll(): Promise<void> {
  while (await sellUnderLock());
  await locks.close();
  shop.close();
  leave();
}

async function sellUnderLock(): Promise<boolean> {
  if (plan.protection === 'none') return sellOne();
  try {
    return await mutex.run(sellOne);
  } catch (error) {
    if (!isLockError(error, 'LEASE_LOST')) throw error;
    const { cause } = error;
    if (isLockError(cause, 'STALE_TOKEN')) {
      const { token, seen } = cause as StaleTokenError;
      await report({ event: 'refused', error: cause.name, token, seen });
    }
    return true;
  }
}

/** Reads the stock, thinks, writes what it has made of it; false if there is nothing to sell. */
async function sellOne(lease?: Lease): Promise<boolean> {
  const stock = step(lease, () => shop.stock());
  if (stock === 0) return false;
  await think(lease);
  step(lease, () => shop.sell(stock, plan.name));
  await report({ event: 'sold', token: lease?.token, takeover: lease?.takeover?.reason });
  return true;
}

/** One transaction; the fence lets it in only if no later holder of the lock was here. */
function step<T>(lease: Lease | undefined, work: () => T): T {
  return shop.transaction(() => {
    if (lease && plan.protection === 'fence') fence.enter(shop.database, lease);
    return work();
  });
}

/**
 * The card is charged, the warehouse is asked: something that takes a while and that no transaction
 * should stay open for. It is most of a sale, so with four sellers some are always in it together;
 * that is all that the race needs.
 */
async function think(lease: Lease | undefined): Promise<void> {
  await sleep(plan.thinkMs * (0.5 + Math.random()));
  if (!pauseNext || !lease) return;
  pauseNext = false;
  const told = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await report({ event: 'between', token: lease.token });
  await told;
}
