/** What the statements take and return: lines of words, and rows as lists in JSON. */
import { toText } from '../../clients/sql/name-text.ts';
import type { Claim, ClaimStatus } from '../../contract/store.ts';
import { garbled, letterOf, statusIn, turnIn } from '../status-lines.ts';
import type { FoundRows, LockWrite } from './applying.ts';
import { COLUMNS, type LockRow, type RowMoment } from './row.ts';

export interface TaggedClaim {
  readonly claim: Claim;
  readonly tag: string;
}

export function textsOf(writes: readonly LockWrite[]): string[] {
  const rows = writes.map(({ name, rev, columns }) => ({ name, rev, ...columns }));
  const wakes = writes.flatMap(({ name, wakes }) => wakes.map((each) => ({ name, ...each })));
  return [JSON.stringify(rows), JSON.stringify(wakes)];
}

export function termsOf({ claim, tag }: TaggedClaim, nth: number): (string | number | boolean)[] {
  const { resource, id, kind, permits, limit, ttlMs, holder, queue } = claim;
  const terms = [toText(resource), id, letterOf(kind), permits, limit, Math.ceil(ttlMs)];
  return [...terms, JSON.stringify(holder), tag, queue, nth];
}

/**
 * Who holds the row, the last number drawn, how many wait, µs until the one before these claims
 * ends, its tag and its number, and the name.
 */
export function takenIn(
  line: string,
  runs: ReadonlyMap<string, readonly TaggedClaim[]>,
): (readonly [string, ClaimStatus])[] {
  const words = line.split(' ', 6);
  const [holder = '', last = '', waiters, left, ...before] = words;
  const run = runs.get(line.slice(words.join(' ').length + 1));
  if (!run) throw garbled(line);
  let retryInMs = Math.max(0, Number(left) / 1000);
  let [tag, number] = before;
  return run.map((asked, i) => {
    const { id, ttlMs: leftMs } = asked.claim;
    const behind = run.length - 1 - i;
    const token = BigInt(last) - BigInt(behind);
    const turn = turnIn(String(token), tag, number);
    const beforeMs = retryInMs;
    [retryInMs, tag, number] = [leftMs, asked.tag.split(' ')[1], String(token)];
    // A wake says more about those that came with it.
    if (id === holder) return [id, { state: 'held', token, leftMs, waiters: 0 }];
    const waits = { leftMs, ahead: Number(waiters) - behind, retryInMs: beforeMs, turn };
    return [id, { state: 'waiting', why: 'queue', ...waits }];
  });
}

export function heldIn(line: string, ttls: ReadonlyMap<string, number>): [string, ClaimStatus] {
  const [id = '', number, waiters, ...ended] = line.split(' ');
  return [id, statusIn(['h', number, ttls.get(id) ?? 0, waiters, '-', ...ended].join(' '))];
}

type ReadLine = [now: number, openAt: number | null, highest: number, ...row: unknown[]];

/** Undefined if what the store knows has to be settled first. */
export function readIn(lines: readonly string[]): FoundRows | undefined {
  let moment: RowMoment | undefined;
  const rows: LockRow[] = [];
  for (const line of lines) {
    const [now, openAt, highest, name, rev, ...queue] = JSON.parse(line) as ReadLine;
    if (openAt === null) return undefined;
    moment ??= { now, openAt, highest };
    const columns = Object.fromEntries(COLUMNS.map((column, n) => [column, queue[n] ?? null]));
    if (typeof name === 'string') rows.push({ name, rev, ...columns } as never);
  }
  return moment && { moment, rows };
}
