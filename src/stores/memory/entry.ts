import type { GoneReason, Holder, Kind, Member, Takeover } from '../../store.ts';

/** A claim in a queue. */
export interface Entry {
  readonly id: string;
  readonly number: bigint;
  readonly limit: number;
  readonly ttlMs: number;
  readonly holder: Holder;
  kind: Kind;
  permits: number;
  admitted: boolean;
  expiresAt: number;
  /** It knows that it is the first waiter. */
  first: boolean;
  /** Takes no more heartbeats: evicted, or released with `after`. */
  sealed?: GoneReason;
  takeover?: Takeover;
}

/** The first waiter waits for the earliest death among the holders, others for that of the one before. */
export function retry(queue: readonly Entry[], at: number, now: number): number {
  const before = queue[at - 1];
  const watched = !before || before.admitted ? queue.slice(0, at) : [before];
  return Math.min(...watched.map((entry) => entry.expiresAt)) - now;
}

export function memberOf(entry: Entry, now: number): Member {
  const { number, kind, permits, ttlMs, holder } = entry;
  return { number, kind, permits, ttlMs, leftMs: entry.expiresAt - now, holder };
}

export function endOf(entry: Entry): Takeover['reason'] {
  if (entry.sealed === 'evicted') return 'evicted';
  return entry.sealed ? 'released' : 'expired';
}

let instances = 0;

/** Another memory is another source of tokens. */
export function newLineage(): string {
  return `memory:${process.pid}:${Date.now().toString(36)}:${++instances}`;
}
