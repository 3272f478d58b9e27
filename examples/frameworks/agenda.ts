/** Agenda: jobs of one customer run one at a time, also those that outlive their lockLifetime. */
import type { Agenda } from 'agenda';
import type { Locks } from 'holdfast';
import { ship } from './ship.ts';

export function defineOrders(agenda: Agenda, locks: Locks): void {
  agenda.define('order', async (job) => {
    const { customer, order } = job.attrs.data as { customer: string; order: string };
    const mutex = locks.mutex(`customer:${customer}`);
    await mutex.run({ wait: '20s' }, ({ signal }) => ship(order, signal));
  });
}
