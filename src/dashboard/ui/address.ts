/** What a page shows, behind the `#` of its address: it can be sent on, and no server gets it. */
import { ORDERS, type RowChoice } from './order.ts';
import { FILTERS } from './text.ts';

export const VIEWS = {
  queues: 'Queues',
  graph: 'Graph',
  timeline: 'Timeline',
  busiest: 'Busiest',
};

export interface PageAddress extends RowChoice {
  readonly view: keyof typeof VIEWS;
  /** The resource whose details are open; null for none. */
  readonly name: string | null;
}

/** A value that it does not know counts as left out. */
export function addressIn(hash: string): PageAddress {
  const given = new URLSearchParams(hash.slice(1));
  const known = <T extends string>(all: Readonly<Record<T, string>>, key: string, plain: T): T => {
    const value = given.get(key) ?? '';
    return Object.hasOwn(all, value) ? (value as T) : plain;
  };
  return {
    view: known(VIEWS, 'view', 'queues'),
    search: given.get('search') ?? '',
    kind: known(FILTERS, 'kind', 'all'),
    order: known(ORDERS, 'order', 'wait'),
    name: given.get('name'),
  };
}

export function hashOf(address: PageAddress): string {
  const plain = addressIn('');
  const said = Object.entries(address).filter(([key, value]) => value !== plain[key as 'name']);
  return `#${new URLSearchParams(said)}`;
}
