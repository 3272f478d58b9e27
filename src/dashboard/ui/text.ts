import { span } from '../../operators/span.ts';
import type { QueueRow, Seat } from '../wire.ts';

/** As `span`, where tenths of a second would only flicker. */
export function age(ms: number): string {
  return ms < 9_950 ? `${Math.max(0, Math.floor(ms / 1000))} s` : span(ms);
}

export function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString(undefined, { hour12: false });
}

export function dateTime(at: number): string {
  return new Date(at).toLocaleString(undefined, { hour12: false });
}

export function whole(n: number): string {
  return n.toLocaleString('en-US');
}

export function placeOf({ host, pid }: Pick<Seat, 'host' | 'pid'>): string {
  return `${host} · ${pid}`;
}

export const FILTERS = {
  all: 'All kinds',
  'waited for': 'Waited for',
  mutex: 'Mutexes',
  permits: 'Semaphores',
  election: 'Elections',
  'read-write': 'Read-write locks',
  once: 'Once and refresh',
};

export type Filter = keyof typeof FILTERS;

export function kindOf({ name, seats, election }: QueueRow): string {
  const kind = seats[0]?.kind;
  if (election) return 'election';
  if (name.startsWith('once:')) return 'once';
  if (name.startsWith('refresh:')) return 'refresh';
  if (kind === 'permits') return 'semaphore';
  return kind === 'read' || kind === 'write' ? 'read-write lock' : 'mutex';
}

export function isOf(filter: Filter, row: QueueRow): boolean {
  const kind = row.seats[0]?.kind;
  if (filter === 'all') return true;
  if (filter === 'election') return row.election;
  if (filter === 'waited for') return row.waiting > 0 && !row.election;
  if (filter === 'once') return /^(once|refresh):/.test(row.name);
  if (filter === 'read-write') return kind === 'read' || kind === 'write';
  return kind === filter && !row.election;
}

export function mentions(row: QueueRow, words: string): boolean {
  if (row.name.toLowerCase().includes(words)) return true;
  return row.seats.some(({ host, label, pid }) =>
    `${host} ${pid} ${label ?? ''}`.toLowerCase().includes(words),
  );
}

/** Since when its first waiter waits; a standby waits for nothing. */
export function waitingSince({ election, seats }: QueueRow): number | undefined {
  return election ? undefined : seats.find(({ holds }) => !holds)?.since;
}

/** `semaphore · 2 of 3` permits, or how many hold; nothing more where there is only one. */
export function kindText(row: QueueRow): string {
  const { limit, holding, seats } = row;
  if (limit === 1) return kindOf(row);
  const used = seats.reduce((sum, { holds, permits }) => sum + (holds ? permits : 0), 0);
  return `${kindOf(row)} · ${limit === null ? holding : `${used} of ${limit}`}`;
}

/** A row for a screen reader, which would read its cells as one word. */
export function rowText(row: QueueRow, now: number): string {
  const [holder, since] = [row.seats.find(({ holds }) => holds), waitingSince(row)];
  const who = holder && `${holder.label ?? placeOf(holder)} for ${age(now - holder.since)}`;
  const held = who ? `held by ${who}` : 'not held';
  const waiting = `${row.waiting} ${row.election ? 'on standby' : 'waiting'}`;
  const first = since === undefined ? '' : `, the first for ${age(now - since)}`;
  return `${row.name}, ${kindText(row)}, ${held}, ${waiting}${first}`;
}
