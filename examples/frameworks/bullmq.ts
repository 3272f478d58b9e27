/** BullMQ: jobs of one customer run one at a time, whichever workers have them. */
import { type ConnectionOptions, Worker } from 'bullmq';
import type { Locks } from 'holdfast';
import { ship } from './ship.ts';

export interface OrderData {
  readonly customer: string;
  readonly order: string;
}

export function orderWorker(locks: Locks, connection: ConnectionOptions): Worker<OrderData> {
  return new Worker<OrderData>(
    'orders',
    async ({ data }) => {
      const customer = locks.mutex(`customer:${data.customer}`);
      // A job that waits takes one of the ten places; after 20 s it fails, and BullMQ repeats it.
      return customer.run({ wait: '20s' }, ({ signal }) => ship(data.order, signal));
    },
    { connection, concurrency: 10 },
  );
}
