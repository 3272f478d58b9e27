/** What the server and the page say to each other, as JSON. Times are epoch ms of the server. */

/** A holder or waiter. It has no claim id: with one, a reader could release the claim. */
export interface Seat {
  /** The fencing token of a holder, the place of a waiter; in decimal, too large for a number. */
  readonly token: string;
  readonly holds: boolean;
  /** It was handed over, and is not resumed yet. */
  readonly inTransit?: true;
  readonly kind: 'mutex' | 'read' | 'write' | 'permits';
  readonly permits: number;
  readonly host: string;
  readonly pid: number;
  readonly label: string | null;
  /** When it asked, by the wall clock of its own machine. */
  readonly since: number;
  readonly ttlMs: number;
  /** When it ends without another heartbeat. */
  readonly endsAt: number;
}

/** One resource in use. */
export interface QueueRow {
  /** Without the prefix of the locks. */
  readonly name: string;
  /** Null for a read-write lock, which has none. */
  readonly limit: number | null;
  /** Its holders lead, and its waiters stand by. */
  readonly election: boolean;
  /** All of them; `seats` lists the first. */
  readonly holding: number;
  readonly waiting: number;
  /** Holders first, then waiters in order. */
  readonly seats: readonly Seat[];
}

/** A process, for people. */
export type Who = Pick<Seat, 'host' | 'pid' | 'label'>;

/** A wait of a task that holds other locks, as its process publishes it. */
export interface QueueWait extends Who {
  readonly id: string;
  /** What it waits for. */
  readonly name: string;
  /** What it holds: waits of one task under the same hold have the same token. */
  readonly holds: readonly { readonly name: string; readonly token: string }[];
  /** All in a deadlock with it have confirmed it. */
  readonly deadlocked: boolean;
}

export type Happening =
  | 'waits'
  | 'granted'
  | 'handed on'
  | 'handed over'
  | 'resumed'
  | 'gone'
  | 'left'
  | 'released'
  | 'lost'
  | 'missed'
  | 'evicted';

/** One line of a timeline. */
export interface QueueEvent {
  /** A line that comes later with the same one takes its place. */
  readonly id: number;
  readonly at: number;
  readonly name: string;
  readonly what: Happening;
  /** The fencing token of the lease, in decimal; null if there was none. */
  readonly token: string | null;
  /** The process, for people; null if it is not known. */
  readonly who: string | null;
  /** A reason, or a takeover. */
  readonly detail: string | null;
}

/** An event of this process's locks. */
export interface Report extends Pick<QueueEvent, 'token' | 'detail'> {
  /** The full name, prefix included. */
  readonly resource: string;
  readonly what: 'granted' | 'handed on' | 'released' | 'lost' | 'missed';
  /** How long after the release, in ms; null if another process may have held it in between. */
  readonly handOffMs: number | null;
}

export interface BusyName {
  readonly name: string;
  readonly grants: number;
}

/** The figures of the last minute. */
export interface Rates {
  readonly grants: number;
  readonly losses: number;
  /** The median wait of those that were granted; null if there were none. */
  readonly waitMs: number | null;
  /** The median time between two holders of this process's locks; null if there were none. */
  readonly handOffMs: number | null;
  /** The names with the most grants, the busiest first. */
  readonly busiest: readonly BusyName[];
}

/** One message of the stream. */
export interface BoardFrame {
  readonly now: number;
  readonly store: string;
  readonly readOnly: boolean;
  /** What is wrong with the store; null if it replied to the last look. */
  readonly away: string | null;
  /** The store has lost its memory, and grants nothing for this long; null otherwise. */
  readonly quarantineMs: number | null;
  /** Resources in use beyond those that are shown. */
  readonly cut: number;
  /** A page that gets no other message for this long, in ms, is out of date. */
  readonly quietMs: number;
  readonly rates: Rates;
  /** All of the last look. */
  readonly waits: readonly QueueWait[];
  /** New and changed ones. */
  readonly rows: readonly QueueRow[];
  readonly gone: readonly string[];
  /** Only their heartbeats are new: the name, and the ends of all its seats. */
  readonly beats: readonly (readonly [name: string, ...endsAt: number[]])[];
  readonly told: readonly QueueEvent[];
  /** The page does not know all rows yet: they are still read, or still sent. */
  readonly more: boolean;
}

/** The body of `POST evict`. */
export interface EvictRequest {
  readonly name: string;
  readonly token: string;
  readonly reason: string;
  /** At once; default: with its TTL. */
  readonly now?: boolean;
  /** The name, as a person has typed it. */
  readonly typed: string;
}

/** The answer to `GET record`: who did the work of a key of `once`. */
export interface DoneRecord extends Who {
  readonly token: string;
  readonly leftMs: number;
}
