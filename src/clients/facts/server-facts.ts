/** What a server says of itself, for people: no grant depends on it. */
export interface ServerFacts {
  /** Such as `PostgreSQL 15.7`. */
  readonly version: string;
  /** How far its wall clock is ahead of ours; undefined if it does not tell. */
  readonly clock?: ClockOffset;
  /** Where the tables of the locks are, if they had to be made there. */
  readonly tables?: string;
  /** What it complains of, and what to do about it. */
  readonly hazards?: readonly string[];
}

export interface ClockOffset {
  /** Negative if the server is behind. */
  readonly aheadMs: number;
  /** The real offset is at most this far from it: half of a round trip. */
  readonly withinMs: number;
}

/** @param ask resolves with the server's wall clock, in epoch ms. */
export async function clockOffset(ask: () => Promise<number>): Promise<ClockOffset> {
  const sentAt = Date.now();
  const serverMs = await ask();
  const withinMs = (Date.now() - sentAt) / 2;
  return { aheadMs: serverMs - sentAt - withinMs, withinMs };
}
