/** Which rows the list has, and in which order: the same orders as `holdfast top`. */
import type { QueueRow } from '../wire.ts';
import { type Filter, isOf, mentions, waitingSince } from './text.ts';

export const ORDERS = {
  wait: 'Longest wait',
  hold: 'Longest hold',
  waiters: 'Most waiters',
  name: 'By name',
};

export type RowOrder = keyof typeof ORDERS;

export interface RowChoice {
  readonly search: string;
  readonly kind: Filter;
  readonly order: RowOrder;
}

type SortKey = (row: QueueRow) => number;

const LAST = Number.POSITIVE_INFINITY;
const since: SortKey = (row) => waitingSince(row) ?? LAST;
const heldSince: SortKey = ({ seats }) => seats.find(({ holds }) => holds)?.since ?? LAST;

/** Rows with equal keys are in the order of their names. */
const KEYS: Readonly<Record<RowOrder, readonly SortKey[]>> = {
  wait: [since, heldSince],
  hold: [heldSince, since],
  waiters: [({ election, waiting }) => (election ? 0 : -waiting), since],
  name: [],
};

export function listed(rows: Iterable<QueueRow>, choice: RowChoice): readonly QueueRow[] {
  const wanted = choice.search.toLowerCase();
  return [...rows]
    .filter((row) => isOf(choice.kind, row) && (wanted === '' || mentions(row, wanted)))
    .sort((a, b) => {
      const key = KEYS[choice.order].find((each) => each(a) !== each(b));
      return (key ? key(a) < key(b) : a.name < b.name) ? -1 : 1;
    });
}
