import { CANDIDATE, type Queue } from '../../contract/store.ts';

type Order = (a: Queue, b: Queue) => number;

const byWait: Order = (a, b) => firstWait(a) - firstWait(b);
const byHold: Order = (a, b) => firstOf(a.holders) - firstOf(b.holders);
const byName: Order = (a, b) => (a.resource < b.resource ? -1 : 1);

export type OrderName =
  | 'longest wait first'
  | 'longest hold first'
  | 'most waiters first'
  | 'by name';

const ORDERS: Readonly<Record<OrderName, Order>> = {
  'longest wait first': (a, b) => byWait(a, b) || byHold(a, b),
  'longest hold first': (a, b) => byHold(a, b) || byWait(a, b),
  'most waiters first': (a, b) => b.waiters.length - a.waiters.length || byWait(a, b),
  'by name': byName,
};

export function sorted(
  queues: readonly Queue[],
  order: OrderName = 'longest wait first',
): readonly Queue[] {
  return [...queues].sort((a, b) => ORDERS[order](a, b) || byName(a, b));
}

export function orderAfter(order: OrderName): OrderName {
  const names = Object.keys(ORDERS) as OrderName[];
  return names[(names.indexOf(order) + 1) % names.length] as OrderName;
}

/** A standby of an election waits for nothing. */
function firstWait({ waiters }: Queue): number {
  return firstOf(waiters[0]?.holder.mark === CANDIDATE ? [] : waiters);
}

/** When the first began, later than all others if there is none. */
function firstOf([first]: Queue['waiters']): number {
  return first?.holder.since ?? Number.MAX_SAFE_INTEGER;
}
