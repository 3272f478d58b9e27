/**
 * What may wait for a row that another session has locked, and for how long.
 *
 * Invariant: no claim waits for the row of another. The calls of a process share two sessions, and
 * the claims of a call share a transaction, so a wait on the server holds up both:
 * - a call about several claims takes the rows that are free and waits for none. For each claim
 *   whose row is taken it returns `b` and its place; this file asks about those again;
 * - a call about one claim waits on the server, in line, but no longer than `WAIT_MS`;
 * - all further waiting is done here, between calls, so that other calls have their turn. It ends
 *   after a sixth of the shortest TTL, for a heartbeat that fails must not be the last one; in a
 *   batch, where the answers of others wait as well, after a quarter of that.
 * Mostly a busy row is free a moment later. So its claim is asked about again at once, in line, and
 * then after pauses that grow. Several are asked about by turns: all together, for the many that
 * are free by now, and one alone, for a row that is never free except to the one next in line.
 * Where a batch as a whole had to wait (for a name that another session is just adding), nothing
 * tells for whom: then it is halved until that claim stands alone.
 * What would break it: a call about several claims that waits while it has locked some rows.
 */
import type { Clock } from '../../base/clock.ts';
import { StoreError } from '../../contract/errors.ts';
import type { Claim } from '../../contract/store.ts';

/** On the server, in line for one row, in ms. Commits that are slow hold a row so long. */
const WAIT_MS = 50;
/** The same for parts of a batch that has waited already. */
const HARDLY_MS = 1;
const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 30;

/** As shares of the TTL: of one claim, and of one beside others. */
const PATIENCE_PER_TTL = 1 / 6;
const PATIENCE_AMONG_OTHERS = 1 / 4;
/** A third of what core waits for an answer. */
const LONGEST_PATIENCE_MS = 2000;

/** Asks about some of them, waiting so long for a lock at most: a line for each. */
export type Ask = (claims: readonly Claim[], waitMs: number) => Promise<readonly string[]>;

export type Reply = string | StoreError;

const blocked = new WeakSet<StoreError>();

/** Remembers that this error means that a row was locked for too long, and nothing happened. */
export function markBlocked(error: StoreError): void {
  blocked.add(error);
}

/**
 * Asks about one, whose TTL this is, again and again while somebody has the row.
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
 * A line or an error for each claim.
 * @throws StoreError for all of them.
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

/** An error that says `blocked` stands for each whose row is taken. */
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

/** An error is theirs alone: the others may have been answered. */
function part(
  claims: readonly Claim[],
  { waitMs, ask }: { readonly waitMs: number; readonly ask: Ask },
): Promise<readonly Reply[]> {
  return halved(claims, waitMs, ask).catch((error: StoreError) => claims.map(() => error));
}

/** A line for each claim, in their order, with errors in the places of those that are busy. */
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
    'Somebody else has kept the row of this lock. Look for a session that stands still in a' +
    ' transaction on the tables of Holdfast.';
  const error = new StoreError(message, { retryable: true, outcome: 'failed' });
  markBlocked(error);
  return error;
}

/** Whole ms, for no wait at all would be one without end. */
function patienceFor(ttlMs: number): number {
  return Math.max(1, Math.floor(Math.min(ttlMs * PATIENCE_PER_TTL, LONGEST_PATIENCE_MS)));
}

/** Not all at the same moment. */
function pause(clock: Clock, tries: number): Promise<void> {
  const ms = Math.min(SHORTEST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
  return new Promise((resolve) => {
    clock.setTimeout(resolve, ms * (0.5 + clock.random() / 2));
  });
}
