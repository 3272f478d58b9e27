/**
 * Who waits for whom.
 *
 * The store knows processes, and of tasks only those whose waits `detectDeadlocks` publishes. That
 * a process waits for the holder of a queue is certain; that what it holds itself is held until
 * then is not, so a wait of a process that others wait for only *may* delay them, and a cycle of
 * such waits may be a deadlock. A published wait says what its task holds: it stands for itself,
 * apart from its process, and leads only those to it who wait for just that. A process that queues
 * behind itself is no cycle, for however many names: one of its tasks may hold while others wait.
 */
import type { QueueRow, QueueWait, Seat, Who } from '../../wire.ts';
import { placeOf } from '../text.ts';

/** Most holders of one queue that a wait leads to. */
const MAX_HOLDERS = 8;

/** A task whose wait is published, or all else that one process does. */
export interface Party {
  readonly id: string;
  readonly place: string;
  readonly labels: Set<string>;
  readonly wait: QueueWait | undefined;
  /** The names that it waits for, by those that hold them. */
  readonly to: Map<string, Set<string>>;
  awaited: boolean;
}

/** All that wait or are waited for. */
export function partiesOf(
  rows: Iterable<QueueRow>,
  waits: readonly QueueWait[],
): Map<string, Party> {
  const all = new Map<string, Party>();
  const partyOf = (who: Who, wait?: QueueWait): Party => {
    const id = wait ? `wait ${wait.id}` : processOf(who);
    const place = placeOf(who);
    const fresh: Party = { id, place, labels: new Set(), wait, to: new Map(), awaited: false };
    const found = all.get(id) ?? fresh;
    all.set(id, found);
    if (who.label) found.labels.add(who.label);
    return found;
  };
  /** Published waits take the place of as many seats of their process as they are for. */
  const partiesIn = (
    seats: readonly Seat[],
    published: readonly QueueWait[],
    seatFor: (wait: QueueWait) => string | undefined,
  ): readonly Party[] => {
    const taken = new Map(published.map((wait) => [`${processOf(wait)}\n${seatFor(wait)}`, wait]));
    const others = [...seats];
    for (const wait of taken.values()) {
      const at = others.findIndex((seat) => processOf(seat) === processOf(wait));
      if (at >= 0) others.splice(at, 1);
    }
    const parties = published.map((wait) => partyOf(wait, wait));
    return [...new Set([...parties, ...others.map((seat) => partyOf(seat))])];
  };
  for (const { name, seats, election } of rows) {
    const published = waits.filter((wait) => wait.name === name);
    // A standby waits for nothing, and holds nothing up.
    const waiting = election ? [] : seats.filter(({ holds }) => !holds);
    if (waiting.length + published.length === 0) continue;
    const holding = seats.filter(({ holds }) => holds);
    const places = new Set(holding.map(processOf));
    // What was published may be older than the seats.
    const holdOf = ({ holds }: QueueWait) => holds.find((hold) => hold.name === name)?.token;
    const held = waits.filter((wait) => holdOf(wait) && places.has(processOf(wait)));
    // Several waits may be under one hold.
    const holders = partiesIn(holding, held, holdOf).slice(0, MAX_HOLDERS);
    for (const { to } of partiesIn(waiting, published, ({ id }) => id)) {
      for (const holder of holders) {
        holder.awaited = true;
        to.set(holder.id, (to.get(holder.id) ?? new Set()).add(name));
      }
    }
  }
  return all;
}

function processOf({ host, pid }: Who): string {
  return `${host}\n${pid}`;
}

/** `deadlock`: all in it have confirmed it. `cycle`: it may be one. */
export type WaitMark = 'deadlock' | 'cycle' | undefined;

export function markOf(ids: readonly string[], all: ReadonlyMap<string, Party>): WaitMark {
  const [first = ''] = ids;
  const leadsBack = ids.length > 1 || all.get(first)?.to.has(first);
  if (leadsBack && ids.some((id) => all.get(id)?.wait?.deadlocked)) return 'deadlock';
  return ids.length > 1 ? 'cycle' : undefined;
}

/** Strongly connected components (Tarjan), those that are waited for first. */
export function componentsOf(all: ReadonlyMap<string, Party>): string[][] {
  const [index, low] = [new Map<string, number>(), new Map<string, number>()];
  const stack: string[] = [];
  const found: string[][] = [];
  const see = (id: string): void => {
    index.set(id, index.size);
    low.set(id, index.get(id) as number);
    stack.push(id);
    for (const next of all.get(id)?.to.keys() ?? []) {
      if (!index.has(next)) see(next);
      else if (!stack.includes(next)) continue;
      low.set(id, Math.min(low.get(id) as number, low.get(next) as number));
    }
    if (low.get(id) !== index.get(id)) return;
    found.push(stack.splice(stack.indexOf(id)));
  };
  for (const id of all.keys()) if (!index.has(id)) see(id);
  return found;
}
