/**
 * Waiting for a row that another session has locked: which calls may, and for how long.
 *
 * Invariant: no claim waits for the row of another. The calls of a process share two sessions, and
 * the claims of a call share a transaction, so a wait on the server holds up both:
 * - a call about several claims takes the rows that are free and waits for none. For each claim
 *   whose row is taken it returns `b` and its place; this file asks about those again;
 * - a call about one claim waits on the server, in line, but no longer than `WAIT_MS`;
 * - all further waiting happens here, between calls, so that other calls have their turn. It ends
 *   after a sixth of the shortest TTL, because a heartbeat that fails must not be the last one; in
 *   a batch, which holds up the replies to other claims, after a quarter of that.
 * Most busy rows are free a moment later. So this file asks again at once, in line, and then after
 * growing pauses. Several busy claims take turns: all together, for the many that are free by now,
 * and one alone, for a row that is never free except to the next session in line. A batch that had
 * to wait as a whole (for a name that another session is just adding) does not show for which
 * claim: this file halves it until that claim stands alone.
 * What would break it: a call about several claims that waits while it has locked some rows.
 */
import type { Clock } from '../../base/clock.ts';
import { StoreError } from '../../contract/errors.ts';
import type { Claim } from '../../contract/store.ts';

/** Longest wait on the server, in line for one row, in ms. Slow commits hold a row so long. */
const WAIT_MS = 50;
/** The same for parts of a batch that has waited already. */
const HARDLY_MS = 1;
const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 30;

/** The patience of a lone claim as a share of its TTL, and that of a batch as a share of this. */
const PATIENCE_PER_TTL = 1 / 6;
const PATIENCE_AMONG_OTHERS = 1 / 4;
/** Bounds the patience of TTLs above 12 s. */
const LONGEST_PATIENCE_MS = 2000;

/** Asks about these claims, waiting at most `waitMs` for a lock; returns a line for each. */
export type Ask = (claims: readonly Claim[], waitMs: number) => Promise<readonly string[]>;

export type Reply = string | StoreError;

const blocked = new WeakSet<StoreError>();

/** Marks an error: a row was locked for too long, and nothing happened. */
export function markBlocked(error: StoreError): void {
  blocked.add(error);
}

/**
 * Asks about a claim of this TTL, again and again while another session has its row.
 * @throws what `ask` throws.
 */
export async function untilFree<T>(
  { clock, ttlMs }: { readonly clock: Clock; readonly ttlMs: number },
  ask: (waitMs: number) => Promise<T>,
): Promise<T> {
  const patienceMs = patienceFor(ttlMs);
  const until = clock.now() + patienceMs;
  for (let tries = 1; ; tries++) {
    try {
      return await ask(Math.min(WAIT_MS, patienceMs));
    } catch (error) {
      if (!isBlocked(error) || clock.now() >= until) throw error;
    }
    await pause(clock, tries);
  }
}

/**
 * Returns a line or an error for each claim.
 * @throws StoreError that concerns all of them.
 */
export async function askApart(
  claims: readonly Claim[],
  clock: Clock,
  ask: Ask,
): Promise<readonly Reply[]> {
  const ttlMs = Math.min(...claims.map((claim) => claim.ttlMs));
  if (claims.length === 1) return untilFree({ clock, ttlMs }, (waitMs) => ask(claims, waitMs));
  const until = clock.now() + patienceFor(ttlMs) * PATIENCE_AMONG_OTHERS;
  const waitMs = Math.min(WAIT_MS, patienceFor(ttlMs));
  const replies = [...(await halved(claims, waitMs, ask))];
  for (let round = 0; ; round++) {
    const busy = [...replies.keys()].filter((i) => isBlocked(replies[i]));
    if (busy.length === 0 || clock.now() >= until) return replies;
    if (round > 0) await pause(clock, round);
    const asked = round % 2 === 0 ? busy.slice(round % busy.length).slice(0, 1) : busy;
    const again = await part(
      asked.map((i) => claims[i] as Claim),
      { waitMs, ask },
    );
    asked.forEach((i, n) => {
      replies[i] = again[n] ?? '';
    });
  }
}

/** Halves a batch that was blocked as a whole; a claim whose row is taken gets a blocked error. */
async function halved(
  claims: readonly Claim[],
  waitMs: number,
  ask: Ask,
): Promise<readonly Reply[]> {
  try {
    return placed(await ask(claims, waitMs), claims.length);
  } catch (error) {
    if (claims.length === 1 || !isBlocked(error)) throw error;
  }
  const middle = claims.length >> 1;
  const terms = { waitMs: HARDLY_MS, ask };
  return [
    ...(await part(claims.slice(0, middle), terms)),
    ...(await part(claims.slice(middle), terms)),
  ];
}

/** A failure is an error of these claims alone: the others may have succeeded. */
function part(
  claims: readonly Claim[],
  { waitMs, ask }: { readonly waitMs: number; readonly ask: Ask },
): Promise<readonly Reply[]> {
  return halved(claims, waitMs, ask).catch((error: StoreError) => claims.map(() => error));
}

/** A line for each claim, in their order, with errors in the places of the busy ones. */
function placed(lines: readonly string[], count: number): readonly Reply[] {
  const busy = new Set(lines.filter(isBusy).map((line) => Number(line.slice(2))));
  if (busy.size === 0) return lines;
  const rest = lines.filter((line) => !isBusy(line)).values();
  return Array.from({ length: count }, (_, i) =>
    busy.has(i) ? taken() : (rest.next().value ?? ''),
  );
}

function isBusy(line: string): boolean {
  return line.startsWith('b ');
}

function isBlocked(error: unknown): boolean {
  return typeof error === 'object' && blocked.has(error as StoreError);
}

function taken(): StoreError {
  const message =
    'Another session keeps the row of this lock locked. Look for one that stays idle in a' +
    ' transaction on the tables of Holdfast.';
  const error = new StoreError(message, { retryable: true, outcome: 'failed' });
  markBlocked(error);
  return error;
}

/** Whole ms, at least 1: a limit of 0 would be a wait without end. */
function patienceFor(ttlMs: number): number {
  return Math.max(1, Math.floor(Math.min(ttlMs * PATIENCE_PER_TTL, LONGEST_PATIENCE_MS)));
}

/** By chance, so that callers do not retry at the same moment. */
function pause(clock: Clock, tries: number): Promise<void> {
  const ms = Math.min(SHORTEST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
  return new Promise((resolve) => {
    clock.setTimeout(resolve, ms * (0.5 + clock.random() / 2));
  });
}
