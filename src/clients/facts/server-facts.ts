/** What a server says of itself, for people: no grant depends on it. */
import { describe } from '../causes.ts';
import type { HttpReply } from '../http/client.ts';
import { timeIn } from '../http/fate.ts';

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

const REASON = 200;

/** Why a server did not tell something: one line, even if a proxy has sent a whole page. */
export function reasonOf(error: unknown): string {
  return describe(error).slice(0, REASON);
}

/** The version, or why it is not told: other questions are asked all the same. */
export async function versionOr(
  server: string,
  ask: () => string | Promise<string>,
): Promise<string> {
  try {
    return await ask();
  } catch (error) {
    return `${server}, which does not tell its version: ${reasonOf(error)}`;
  }
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

/** The clock of a service that the `Date` of its replies shows, which counts seconds. */
export function clockByDate(
  ask: () => Promise<{ readonly nowMs?: number | undefined }>,
): Promise<ClockOffset | undefined> {
  return clockOffset(async () => (await ask()).nowMs, 1000);
}

/** @param versionIn throws for a reply that does not tell it. */
export async function httpFacts(
  server: string,
  ask: () => Promise<HttpReply>,
  versionIn: (reply: HttpReply) => string,
): Promise<ServerFacts> {
  let reply!: HttpReply;
  const clock = await clockByDate(async () => {
    reply = await ask();
    return timeIn(reply.headers);
  });
  return { version: await versionOr(server, () => versionIn(reply)), clock };
}
