/**
 * What a person has before them in `top`, as a value: the list of queues or one of them, and what
 * is being typed. Each key makes a new view from the one before and the queues as last read.
 *
 * The list moves under the reader, so the selection is a name or a token and never a line. Words
 * for an eviction are bound to the claim that was selected when they were begun.
 */
import type { Member, Queue } from '../../contract/store.ts';
import { waitersOf } from '../queue-view.ts';

type Order = (a: Queue, b: Queue) => number;

const byWait: Order = (a, b) => firstOf(waitersOf(a)) - firstOf(waitersOf(b));
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
  'most waiters first': (a, b) => waitersOf(b).length - waitersOf(a).length || byWait(a, b),
  'by name': byName,
};

export interface TopEviction {
  readonly name: string;
  readonly token: bigint;
  readonly reason: string;
}

/** A line that is being typed: a filter, or why to evict, and then the name to confirm it. */
export interface Typing {
  readonly what: 'filter' | 'reason' | 'name';
  readonly text: string;
  readonly eviction?: TopEviction;
}

export interface TopView {
  readonly filter: string;
  readonly order: OrderName;
  /** The selected queue. */
  readonly name?: string | undefined;
  /** Its holders and waiters are shown. */
  readonly open?: boolean;
  /** The selected claim of an open queue. */
  readonly token?: bigint | undefined;
  readonly typing?: Typing | undefined;
  readonly notice?: string | undefined;
}

export const START: TopView = { filter: '', order: 'longest wait first' };

/** What a key asks for beside a new view. */
export interface Pressed {
  readonly view: TopView;
  readonly quits?: true;
  readonly evicts?: TopEviction;
}

export function queuesIn({ filter, order }: TopView, queues: readonly Queue[]): readonly Queue[] {
  const matching = queues.filter(({ resource }) => resource.includes(filter));
  return sorted(matching, order);
}

/** The queue that is open; an empty one if it is no longer in use. */
export function openQueue({ name = '' }: TopView, queues: readonly Queue[]): Queue {
  const found = queues.find(({ resource }) => resource === name);
  return found ?? { resource: name, holders: [], waiters: [] };
}

/** Where the selection is; the first line if what was selected is gone. */
export function selected(view: TopView, queues: readonly Queue[]): number {
  const at = view.open
    ? membersOf(openQueue(view, queues)).findIndex(({ number }) => number === view.token)
    : queuesIn(view, queues).findIndex(({ resource }) => resource === view.name);
  return Math.max(0, at);
}

export function membersOf({ holders, waiters }: Queue): readonly Member[] {
  return [...holders, ...waiters];
}

export function press(before: TopView, key: string, queues: readonly Queue[]): Pressed {
  const view = { ...before, notice: undefined };
  if (key === '^C') return { view, quits: true };
  if (view.typing) return type(view, view.typing, key);
  switch (key) {
    case 'q':
    case '^D':
      return { view, quits: true };
    case 'up':
    case 'k':
      return { view: move(view, -1, queues) };
    case 'down':
    case 'j':
      return { view: move(view, 1, queues) };
    case 'escape':
    case 'backspace':
      return { view: view.open ? { ...view, open: false } : { ...view, filter: '' } };
    default:
      return { view: view.open ? inQueue(view, key, queues) : inList(view, key, queues) };
  }
}

function inList(view: TopView, key: string, queues: readonly Queue[]): TopView {
  if (key === '/') return { ...view, typing: { what: 'filter', text: view.filter } };
  if (key === 's') return { ...view, order: orderAfter(view.order) };
  if (key !== 'enter') return view;
  const queue = queuesIn(view, queues)[selected(view, queues)];
  return queue ? { ...view, name: queue.resource, open: true, token: undefined } : view;
}

function inQueue(view: TopView, key: string, queues: readonly Queue[]): TopView {
  if (key !== 'e') return view;
  const queue = openQueue(view, queues);
  const member = membersOf(queue)[selected(view, queues)];
  if (!member) return view;
  const eviction = { name: queue.resource, token: member.number, reason: '' };
  return { ...view, token: member.number, typing: { what: 'reason', text: '', eviction } };
}

function move(view: TopView, by: number, queues: readonly Queue[]): TopView {
  const to = selected(view, queues) + by;
  if (view.open) {
    const members = membersOf(openQueue(view, queues));
    return { ...view, token: members[clamp(to, members.length)]?.number };
  }
  const shown = queuesIn(view, queues);
  return { ...view, name: shown[clamp(to, shown.length)]?.resource };
}

function clamp(at: number, length: number): number {
  return Math.max(0, Math.min(at, length - 1));
}

function type(view: TopView, typing: Typing, key: string): Pressed {
  const { what, text } = typing;
  if (key === 'escape') {
    const notice = what === 'filter' ? undefined : 'Not evicted.';
    return { view: { ...view, typing: undefined, notice } };
  }
  if (key === 'enter') return enter({ ...view, typing: undefined }, typing);
  const longer = [...key].length === 1 ? text + key : text;
  const now = key === 'backspace' ? [...text].slice(0, -1).join('') : longer;
  const filter = what === 'filter' ? now : view.filter;
  return { view: { ...view, filter, typing: { ...typing, text: now } } };
}

function enter(view: TopView, { what, text, eviction }: Typing): Pressed {
  if (!eviction) return { view };
  if (what === 'reason') {
    if (text.trim() === '') return { view: { ...view, notice: 'Not evicted: say why.' } };
    const typing: Typing = { what: 'name', text: '', eviction: { ...eviction, reason: text } };
    return { view: { ...view, typing } };
  }
  if (text === eviction.name) return { view, evicts: eviction };
  return { view: { ...view, notice: 'Not evicted: that is not the name of the lock.' } };
}

export function sorted(queues: readonly Queue[], order: OrderName = START.order): readonly Queue[] {
  return [...queues].sort((a, b) => ORDERS[order](a, b) || byName(a, b));
}

function orderAfter(order: OrderName): OrderName {
  const names = Object.keys(ORDERS) as OrderName[];
  return names[(names.indexOf(order) + 1) % names.length] as OrderName;
}

/** When the first began, later than all others if there is none. */
function firstOf([first]: Queue['waiters']): number {
  return first?.holder.since ?? Number.MAX_SAFE_INTEGER;
}
