/** pg-boss: jobs of one customer run one at a time, also those that expired and run again. */
import type { Locks } from 'holdfast';
import type PgBoss from 'pg-boss';
import { ship } from './ship.ts';

export interface OrderData {
  readonly customer: string;
  readonly order: string;
}

export async function workOnOrders(boss: PgBoss, locks: Locks): Promise<void> {
  await boss.createQueue('orders');
  await boss.work<OrderData>('orders', { pollingIntervalSeconds: 1 }, async (jobs) => {
    for (const { data } of jobs) {
      const customer = locks.mutex(`customer:${data.customer}`);
      await customer.run({ wait: '20s' }, ({ signal }) => ship(data.order, signal));
    }
  });
}
