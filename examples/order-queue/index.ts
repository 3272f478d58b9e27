/**
 * A payment provider reports each payment several times, and each order is shipped once.
 *
 * Its callback puts the order on a queue, every time. Three consumers take from it; one is killed
 * in the middle of its work, and its message comes to another one. What makes that harmless is a
 * consumer that does each order once: `once` in consumer.ts lets one at a time at an order,
 * and records in the store of the locks which ones are done.
 */
import { join } from 'node:path';
import { check } from '../shared/check.ts';
import { Crew } from '../shared/crew.ts';
import * as screen from '../shared/screen.ts';
import { openSharedStage } from '../shared/stage.ts';
import type { ConsumerPlan, ConsumerReport } from './consumer.ts';
import { OrderQueue } from './queue.ts';

const CONSUMERS = ['consumer 1', 'consumer 2', 'consumer 3'];
const ORDERS = 20;
const CALLBACKS = 3;

const stage = openSharedStage();

/** Delivers all callbacks to three consumers; resolves when all is shipped. */
async function deliver(round: 'careless' | 'careful'): Promise<string> {
  const file = join(stage.folder, `${round}.db`);
  const queue = await OrderQueue.open(file);
  for (let call = 0; call < CALLBACKS; call++) {
    for (let orderNumber = 1; orderNumber <= ORDERS; orderNumber++) queue.put(orderNumber);
  }
  const seen = { shipped: 0, skipped: 0, stuck: 0 };
  let left = 0;
  const crew = new Crew<'stop', ConsumerReport>(
    new URL('./consumer.ts', import.meta.url),
    (name, { event, orderNumber }) => {
      seen[event]++;
      if (event === 'stuck') {
        left = orderNumber;
        crew.signal(name, 'SIGKILL');
        screen.say(`${name} has taken order ${left} and is killed before it ships it`);
      } else if (orderNumber === left && event === 'shipped') {
        screen.say(`${name} ships order ${left}`);
      }
    },
  );
  const start = (name: string): void => {
    const careless = round === 'careless';
    const stuck = !careless && name === 'consumer 1';
    const plan: ConsumerPlan = { name, stage, file, careless, stuck };
    crew.start(name, plan);
  };
  const [first = '', ...others] = CONSUMERS;
  start(first);
  if (round === 'careful') await crew.until('one is stuck', () => seen.stuck > 0);
  for (const name of others) start(name);
  await crew.until('all messages are dealt with', () => queue.size === 0);
  crew.orderAll('stop');
  await crew.until('all consumers have gone home', () => crew.size === 0);
  const { parcels, orders } = queue.parcels();
  queue.close();
  return `${parcels} parcels for ${orders} orders, which were reported ${CALLBACKS} times`;
}

screen.say(`consumers that ship what they are told to: ${await deliver('careless')}`);
const result = await deliver('careful');
const expected = `${ORDERS} parcels for ${ORDERS} orders, which were reported ${CALLBACKS} times`;
check(result === expected, `consumers that do each order once: ${result}`);
