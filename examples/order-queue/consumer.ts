/** A process that ships what was paid. */

import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast/connect';
import { once } from 'holdfast/once';
import { hearOrders, leave, readPlan, tell } from '../shared/member.ts';
import type { Stage } from '../shared/stage.ts';
import { OrderQueue } from './queue.ts';

export interface ConsumerPlan {
  readonly name: string;
  readonly stage: Stage;
  readonly file: string;
  /** It ships whatever it is told to, however often. */
  readonly careless?: boolean;
  /** It stops for ever in the middle of its second order, and waits to be killed. */
  readonly stuck?: boolean;
}

export interface ConsumerReport {
  readonly event: 'shipped' | 'skipped' | 'stuck';
  readonly orderNumber: number;
}

/** A real one is kept for as long as a payment may be reported again: for days. */
const KEEP_FOR = '5m';

const { name, stage, file, careless = false, stuck = false } = readPlan<ConsumerPlan>();
const queue = await OrderQueue.open(file);
const locks = await connect(stage.store, { prefix: stage.prefix, label: name, ttl: '2s' });
const report = tell<ConsumerReport>;
let working = true;
let shipped = 0;

/** Ships each order once, however many ask and how often; true if it was done now. */
async function shipOnce(orderNumber: number): Promise<boolean> {
  const key = `order:${orderNumber}`;
  const { state } = await once(locks, key, { keepFor: KEEP_FOR }, () => ship(orderNumber));
  return state === 'ran';
}

async function ship(orderNumber: number): Promise<void> {
  if (stuck && shipped === 1) {
    await report({ event: 'stuck', orderNumber });
    await new Promise(() => {});
  }
  // Labels are printed, the carrier is asked: with the number of the order, by which it knows an
  // attempt that is made again, because the one before it died after this and before it was noted.
  await sleep(5);
  queue.ship(orderNumber);
  shipped++;
}

hearOrders<'stop'>({
  stop: () => {
    working = false;
  },
});
while (working) {
  const message = queue.take();
  if (!message) {
    await sleep(20);
    continue;
  }
  const { orderNumber } = message;
  let isNew = true;
  if (careless) await ship(orderNumber);
  else isNew = await shipOnce(orderNumber);
  queue.remove(message);
  await report({ event: isNew ? 'shipped' : 'skipped', orderNumber });
}
await locks.close();
queue.close();
leave();
