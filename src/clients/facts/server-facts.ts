/** What a server says of itself, for people: no grant depends on it. */
export interface ServerFacts {
  /** Such as `PostgreSQL 15.7`; its name alone if it does not tell its version. */
  readonly version: string;
  /** How far its wall clock is ahead of ours; undefined if it does not tell. */
  readonly clock?: ClockOffset | undefined;
  /** Where the tables of the locks are, if they had to be made there. */
  readonly tables?: string | undefined;
  /** What it complains of, and what to do about it. */
  readonly hazards?: readonly string[];
}

export interface ClockOffset {
  /** Negative if the server is behind. */
  readonly aheadMs: number;
  /** The real offset is at most this far from it: half of a round trip, and of a step. */
  readonly withinMs: number;
}

/**
 * @param ask resolves with the server's wall clock, in epoch ms, or undefined if it told none.
 * @param stepMs what the clock tells is rounded down to a multiple of this.
 */
export async function clockOffset(
  ask: () => Promise<number | undefined>,
  stepMs = 0,
): Promise<ClockOffset | undefined> {
  const sentAt = Date.now();
  const serverMs = await ask();
  if (serverMs === undefined) return undefined;
  const tookMs = Date.now() - sentAt;
  const aheadMs = serverMs + stepMs / 2 - (sentAt + tookMs / 2);
  return { aheadMs, withinMs: (tookMs + stepMs) / 2 };
}
