/**
 * Claims as rows of the table, in µs, and as entries of a queue, in ms.
 *
 * Other users of the machine may write the database, with any program. So a row is looked at when
 * it is read, here alone: its address becomes the end of a path, and its id a line in a file. A row
 * that no version of Holdfast has written fails the step, for nobody knows whether it holds.
 */
import { show } from '../../base/show.ts';
import { ADDRESS } from '../../clients/sqlite/wake-file.ts';
import { StoreError } from '../../contract/errors.ts';
import type { GoneReason, GoneStatus, Holder, Kind, Takeover } from '../../contract/store.ts';
import type { Entry } from '../../queue/entry.ts';
import { KINDS } from '../status-lines.ts';

/** The columns that are read. */
export type Row = readonly [
  seq: number,
  id: string,
  limit: number,
  ttl: number,
  address: string,
  /** For people, and read only for them. */
  holder: string | null,
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

const ID = /^[\w.-]+$/;

/** @throws StoreError if the row is not one that Holdfast writes. */
export function toEntry(row: Row): Entry {
  const [seq, id, limit, ttl, address, holder, kind, permits, expires, admitted] = row;
  check(Number.isSafeInteger(seq) && seq > 0, 'seq', row);
  check(ID.test(id), 'id', row);
  check(ADDRESS.test(address), 'address', row);
  check(Object.values(KINDS).includes(kind as Kind), 'kind', row);
  check([limit, ttl, permits, expires].every(Number.isFinite), 'numbers', row);
  const [told, sealed, took, tookSeq] = [row[10], row[11], row[12], row[13]];
  return {
    id,
    number: BigInt(seq),
    kind: kind as Kind,
    permits,
    limit,
    ttlMs: ttl / 1000,
    holder: holder === null ? NOT_READ : (JSON.parse(holder) as Holder),
    admitted: admitted === 1,
    first: told === 1,
    trusts: false,
    expiresAt: expires / 1000,
    beat: 1,
    lifeMs: ttl / 1000,
    sealed: sealed === null ? undefined : toGone(sealed),
    takeover: toTakeover(took, tookSeq),
    previous: undefined,
    next: undefined,
  };
}

function check(sound: boolean, what: string, row: Row): void {
  if (sound) return;
  throw new StoreError(
    `In the lock database, the row of holdfast_claim with the seq ${show(row[0])} has a wrong` +
      ` ${what}: some other program has written it. Delete it, and see who may write the file.`,
    { retryable: false, outcome: 'failed' },
  );
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

/** True if these are the columns that were read. */
export function isAsRead(row: Row, changing: Changing): boolean {
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
