/** What the store showed at the last look, and what is different from the look before. */
import { IN_TRANSIT, MAX_PERMITS, type Member, type Queue } from '../contract/store.ts';
import { isElection } from '../operators/list.ts';
import type { QueueRow, Seat, Who } from './wire.ts';

/** Most seats of one row; a page that shows more helps no person. */
const MAX_SEATS = 200;

/** A longer label is cut. */
const MAX_LABEL = 256;

/** An end moves by this much, in ms, only through a heartbeat: requests take less or vary less. */
const BEAT_MS = 250;

export interface BoardNews {
  /** Names of rows that are new or different. */
  readonly changed: readonly string[];
  readonly gone: readonly string[];
  /** Names of rows in which only a heartbeat is new. */
  readonly beaten: readonly string[];
}

export interface BoardChange extends BoardNews {
  /** The rows before, of all that changed or went. */
  readonly before: ReadonlyMap<string, QueueRow>;
}

export class Board {
  /** The shape is all of a row but the ends of its seats. */
  readonly #rows = new Map<string, { readonly row: QueueRow; readonly shape: string }>();

  get names(): IterableIterator<string> {
    return this.#rows.keys();
  }

  row(name: string): QueueRow | undefined {
    return this.#rows.get(name)?.row;
  }

  clear(): void {
    this.#rows.clear();
  }

  /** Takes the rows of a whole look, in place of all before. */
  take(found: ReadonlyMap<string, QueueRow>): BoardChange {
    const change = this.add(found);
    const before = new Map(change.before);
    const gone = [...this.#rows.keys()].filter((name) => !found.has(name));
    for (const name of gone) {
      before.set(name, this.row(name) as QueueRow);
      this.#rows.delete(name);
    }
    return { ...change, gone, before };
  }

  /** Takes some rows of a look that is not over. */
  add(found: ReadonlyMap<string, QueueRow>): BoardChange {
    const [changed, beaten]: [string[], string[]] = [[], []];
    const before = new Map<string, QueueRow>();
    for (const [name, row] of found) {
      const old = this.#rows.get(name);
      const shape = JSON.stringify(row, (key, value) => (key === 'endsAt' ? undefined : value));
      const same = old?.shape === shape;
      if (!same) changed.push(name);
      if (!same && old) before.set(name, old.row);
      const beat = same && row.seats.some((seat, n) => moved(seat, old.row.seats[n]));
      if (beat) beaten.push(name);
      // Keeps the end that pages know, so that small errors do not add up unnoticed.
      if (!same || beat) this.#rows.set(name, { row, shape });
    }
    return { changed, gone: [], beaten, before };
  }
}

function moved(seat: Seat, before: Seat | undefined): boolean {
  return before === undefined || Math.abs(seat.endsAt - before.endsAt) >= BEAT_MS;
}

/** A queue that was read now. */
export function rowOf(name: string, queue: Queue, now: number): QueueRow {
  const { limit, holders, waiters } = queue;
  const seats = [
    ...holders.map((member) => seatOf(member, true, now)),
    ...waiters.map((member) => seatOf(member, false, now)),
  ];
  return {
    name,
    limit: limit === undefined || limit >= MAX_PERMITS ? null : limit,
    election: isElection(queue),
    holding: holders.length,
    waiting: waiters.length,
    seats: seats.slice(0, MAX_SEATS),
  };
}

function seatOf(member: Member, holds: boolean, now: number): Seat {
  const { number, kind, permits, ttlMs, leftMs, holder } = member;
  return {
    ...{ token: String(number), holds, kind, permits: kind === 'permits' ? permits : 1 },
    ...whoOf(holder),
    ...{ since: holder.since, ttlMs, endsAt: Math.round(now + leftMs) },
    ...(holder.mark === IN_TRANSIT && { inTransit: true as const }),
  };
}

type Process = Pick<Who, 'host' | 'pid'> & { readonly label?: string | undefined };

/** Other programs may have written any of it. */
export function whoOf({ host, pid, label }: Process): Who {
  return { host, pid, label: typeof label === 'string' ? label.slice(0, MAX_LABEL) : null };
}

/** `nightly.sh · api-3 · 81` */
export function whoText({ host, pid, label }: Who): string {
  return `${label ? `${label} · ` : ''}${host} · ${pid}`;
}
