/**
 * Claims as rows of the table, in µs, and as entries of a queue, in ms.
 *
 * Other users of the machine may write the database, with any program. So this file alone reads
 * rows, and checks each: its address becomes the end of a path, and its id a line in a file. A row
 * that no version of Holdfast has written fails the steps of its queue until it expires, since it
 * may or may not hold; then it is removed.
 */
import { show } from '../../base/show.ts';
import { ADDRESS } from '../../clients/sqlite/wake-file.ts';
import { temporaryFailure } from '../../contract/errors.ts';
import type { GoneReason, GoneStatus, Holder, Kind, Takeover } from '../../contract/store.ts';
import { type Entry, entryOf } from '../../queue/state.ts';
import { KINDS } from '../status-lines.ts';

/** The columns that are read. */
export type ClaimRow = readonly [
  place: number,
  seq: number,
  id: string,
  limit: number,
  ttl: number,
  /** Without the holder, which is for people, unless they want to see it. */
  origin: string,
  ...changing: Changing,
];

/** The columns that a step may change. */
export type Changing = readonly [
  kind: string,
  permits: number,
  expires: number,
  admitted: number,
  told: number,
  sealed: string | null,
  took: string | null,
  tookSeq: number | null,
];

const NOT_READ: Holder = { host: '', pid: 0, since: 0 };

export const ADDRESS_LENGTH = 16;

const ID = /^[\w.-]+$/;

/** False for a row that Holdfast has not written and that has expired. */
export function isSound(row: ClaimRow, now: number): boolean {
  const wrong = faultIn(row);
  const [, seq, , , , , , , expires] = row;
  if (!wrong || expires <= now) return !wrong;
  throw temporaryFailure(
    `In the lock database, the row of holdfast_claim with the seq ${show(seq)} has a wrong` +
      ` ${wrong}: some other program has written it. Delete it, and see who may write the file.`,
  );
}

function faultIn(row: ClaimRow): string {
  const [, seq, id, limit, ttl, , kind, permits, expires] = row;
  if (!Number.isSafeInteger(seq) || seq <= 0) return 'seq';
  if (!ID.test(id)) return 'id';
  if (!ADDRESS.test(addressIn(row))) return 'origin';
  if (KINDS[kind[0] ?? ''] !== kind) return 'kind';
  return [limit, ttl, permits, expires].every(Number.isFinite) ? '' : 'number';
}

/** What a claim's row says of its process and, for people, of its holder. */
export function originOf(address: string, holder: Holder): string {
  return `${address} ${JSON.stringify(holder)}`;
}

/** Where the process of the claim listens. */
export function addressIn([, , , , , origin]: ClaimRow): string {
  return origin.slice(0, ADDRESS_LENGTH);
}

/** True if the claim of this row has left: nothing holds the lock, or waits for it. */
export function isLeft([place, , , , , , , , , admitted]: ClaimRow): boolean {
  return place === 0 && admitted === 0;
}

export function toEntry(row: ClaimRow): Entry {
  const [, seq, id, limit, ttl, origin, kind, permits, expires, admitted] = row;
  const [told, sealed, took, tookSeq] = [row[10], row[11], row[12], row[13]];
  const text = origin.slice(ADDRESS_LENGTH);
  const holder = text === '' ? NOT_READ : (JSON.parse(text) as Holder);
  const claim = { id, kind: kind as Kind, permits, limit, ttlMs: ttl / 1000, holder };
  const entry = entryOf(claim, BigInt(seq), expires / 1000);
  entry.admitted = admitted === 1;
  entry.first = told === 1;
  entry.sealed = sealed === null ? undefined : toGone(sealed);
  entry.takeover = toTakeover(took, tookSeq);
  return entry;
}

export function changingOf(entry: Entry): Changing {
  const { kind, permits, expiresAt, admitted, first, sealed, takeover } = entry;
  return [
    kind,
    permits,
    toUs(expiresAt),
    admitted ? 1 : 0,
    first ? 1 : 0,
    sealed ? fromGone(sealed) : null,
    takeover?.reason ?? null,
    takeover ? Number(takeover.token) : null,
  ];
}

export function isAsRead(row: ClaimRow, changing: Changing): boolean {
  return changing.every((value, i) => value === row[i + UNCHANGING]);
}

const UNCHANGING = 6;

export function toTakeover(reason: string | null, seq: number | null): Takeover | undefined {
  if (reason === null) return undefined;
  return { reason: reason as Takeover['reason'], token: BigInt(seq ?? 0) };
}

/** Why it is gone, as the file keeps it: a reason, and perhaps a space and a detail in JSON. */
export function toGone(text: string): GoneStatus {
  const space = text.indexOf(' ');
  if (space < 0) return { state: 'gone', why: text as GoneReason };
  const detail = JSON.parse(text.slice(space)) as string;
  return { state: 'gone', why: text.slice(0, space) as GoneReason, detail };
}

export function fromGone({ why, detail }: GoneStatus): string {
  return detail === undefined ? why : `${why} ${JSON.stringify(detail)}`;
}

export function toUs(ms: number): number {
  return Math.round(ms * 1000);
}
