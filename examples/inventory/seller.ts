/** A process that sells from the stock until there is nothing left. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError, type Lease } from 'holdfast';
import { connect } from 'holdfast/connect';
import { PATIENCE_MS } from '../shared/crew.ts';
import { hearOrders, leave, readPlan, tell } from '../shared/member.ts';
import type { Stage } from '../shared/stage.ts';
import { openShop, type Way } from './shop.ts';

export interface SellerPlan {
  readonly name: string;
  readonly stage: Stage;
  readonly stockFile: string;
  /** A seller that stands still does so until this file is there. */
  readonly goOnFile: string;
}

export type SellerOrder = Way | 'stand still' | 'stop';

export type SellerReport =
  | { readonly event: 'ready' | 'still' }
  | { readonly event: 'sold out'; readonly sold: number };

const THINK_MS = 1;

const { name, stage, stockFile, goOnFile } = readPlan<SellerPlan>();
const shop = await openShop(stage.store, stockFile);
const locks = await connect(stage.store, { prefix: stage.prefix, label: name });
const report = tell<SellerReport>;
let standsStill = false;
let sold = 0;

async function think(): Promise<void> {
  await sleep(THINK_MS);
  if (!standsStill) return;
  standsStill = false;
  await report({ event: 'still' });
  // As in a debugger, or a laptop that sleeps: no timer fires, and no heartbeat is sent. Not for
  // ever: it cannot see whether its parent is still there to let it go on.
  const since = performance.now();
  while (!existsSync(goOnFile) && performance.now() - since < PATIENCE_MS) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
}

/** Reads, thinks, writes; whether it still holds the lock it never asks, so only a fence helps. */
async function sell(lease?: Lease): Promise<boolean> {
  const left = await shop.read(lease);
  if (left === 0) return false;
  await think();
  await shop.write(left - 1, lease);
  sold++;
  return true;
}

async function count(sale: Promise<boolean>): Promise<boolean> {
  const done = await sale;
  if (done) sold++;
  return done;
}

async function sellAll(sellOne: () => Promise<boolean>): Promise<void> {
  sold = 0;
  for (let more = true; more; ) {
    more = await sellOne().catch((error) => {
      // The lock was lost during the sale. The write has been made, or the fence has refused it.
      if (isLockError(error, 'LEASE_LOST')) return true;
      throw error;
    });
  }
  await report({ event: 'sold out', sold });
}

/** Short for a seller that stands still, since all wait until it is over. */
const mutex = () => locks.mutex('stock', { ttl: standsStill ? '1s' : '10s' });

hearOrders<SellerOrder>({
  'no lock': () => void sellAll(() => sell()),
  'row lock': () => void sellAll(() => count(shop.sellLocked(think))),
  version: () => void sellAll(() => count(shop.sellVersioned(think))),
  mutex: () => void sellAll(() => mutex().run(() => sell())),
  'mutex + fence': () => void sellAll(() => mutex().run((lease) => sell(lease))),
  'stand still': () => {
    standsStill = true;
  },
  stop: async () => {
    await locks.close();
    await shop.close();
    leave();
  },
});
await report({ event: 'ready' });
