/**
 * A queue as JSON has it, and back. What comes in was written by others, so each part is checked:
 * text that is malformed is refused, rather than read as a queue with a claim less.
 */
import { KINDS } from '../contract/admission.ts';
import { StoreError } from '../contract/errors.ts';
import { ENDINGS } from '../contract/gone.ts';
import type { GoneStatus, Holder, Takeover } from '../contract/store.ts';
import type { Entry, KeptUntil, Tombstone, WholeState } from './state.ts';

/** Numbers are text, because JSON has no large ones. */
export interface QueueJson {
  readonly last: string;
  readonly greatest: string;
  readonly closedUntil?: number | undefined;
  readonly unfinished?: TakeoverJson | undefined;
  readonly claims: readonly ClaimJson[];
  readonly tombstones?: readonly TombstoneJson[] | undefined;
  readonly record?: KeptUntil | undefined;
}

type TakeoverJson = readonly [reason: string, token: string];
type SealJson = Pick<GoneStatus, 'why' | 'detail'>;
type TombstoneJson = SealJson & { readonly id: string; readonly until: number };
type Plain = 'id' | 'kind' | 'permits' | 'limit' | 'ttlMs' | 'lifeMs' | 'beat' | 'holder';

interface ClaimJson extends Pick<Entry, Plain> {
  readonly number: string;
  readonly until: number;
  readonly admitted?: true | undefined;
  readonly first?: true | undefined;
  readonly trusts?: true | undefined;
  readonly sealed?: SealJson | undefined;
  readonly takeover?: TakeoverJson | undefined;
}

/** Any object: which parts it has is seen when each is read. */
type JsonParts = Readonly<Record<string, unknown>>;

export function toJson(state: WholeState): QueueJson {
  const { last, greatest, closedUntil = 0, unfinished, claims, record } = state;
  const tombstones = [...state.tombstones].map(fromTombstone);
  return {
    last: `${last}`,
    greatest: `${greatest}`,
    closedUntil: closedUntil > 0 ? closedUntil : undefined,
    unfinished: unfinished && fromTakeover(unfinished),
    claims: [...claims].map(fromEntry),
    tombstones: tombstones.length > 0 ? tombstones : undefined,
    record,
  };
}

/** @throws StoreError unless it is a queue. */
export function fromJson(value: unknown): WholeState {
  const parts = object(value);
  const claims = list(parts.claims).map(toEntry);
  if (new Set(claims.map(({ id }) => id)).size < claims.length) malformed();
  return {
    last: toNumber(parts.last),
    greatest: toNumber(parts.greatest),
    closedUntil: maybe(parts.closedUntil, time),
    unfinished: maybe(parts.unfinished, toTakeover),
    claims,
    tombstones: list(parts.tombstones ?? []).map(toTombstone),
    record: maybe(parts.record, toRecord),
  };
}

function fromEntry(entry: Entry): ClaimJson {
  const { id, number, kind, permits, limit, ttlMs, lifeMs, beat, expiresAt, holder } = entry;
  return {
    id,
    number: `${number}`,
    kind,
    permits,
    limit,
    ttlMs,
    lifeMs,
    beat,
    until: expiresAt,
    holder,
    admitted: entry.admitted || undefined,
    first: entry.first || undefined,
    trusts: entry.trusts || undefined,
    sealed: entry.sealed && fromSeal(entry.sealed),
    takeover: entry.takeover && fromTakeover(entry.takeover),
  };
}

function toEntry(value: unknown): Entry {
  const parts = object(value);
  return {
    id: text(parts.id),
    number: toNumber(parts.number),
    kind: KINDS.find((kind) => kind === parts.kind) ?? malformed(),
    permits: count(parts.permits),
    limit: count(parts.limit),
    ttlMs: time(parts.ttlMs),
    lifeMs: time(parts.lifeMs),
    beat: count(parts.beat),
    expiresAt: time(parts.until),
    holder: toHolder(parts.holder),
    admitted: parts.admitted === true,
    first: parts.first === true,
    trusts: parts.trusts === true,
    sealed: maybe(parts.sealed, toSeal),
    takeover: maybe(parts.takeover, toTakeover),
    previous: undefined,
    next: undefined,
  };
}

function toHolder(value: unknown): Holder {
  const parts = object(value);
  const { label, mark } = parts;
  return {
    host: text(parts.host),
    pid: time(parts.pid),
    since: time(parts.since),
    ...(label !== undefined && { label: text(label) }),
    ...(mark !== undefined && { mark: text(mark) }),
  };
}

function fromTakeover({ reason, token }: Takeover): TakeoverJson {
  return [reason, `${token}`];
}

function toTakeover(value: unknown): Takeover {
  const [reason, token] = list(value);
  return { reason: ENDINGS.find((each) => each === reason) ?? malformed(), token: toNumber(token) };
}

function fromSeal({ why, detail }: GoneStatus): SealJson {
  return { why, detail };
}

function toSeal(value: unknown): GoneStatus {
  const { why, detail } = object(value);
  const known = SEALS.find((each) => each === why) ?? malformed();
  return { state: 'gone', why: known, detail: maybe(detail, text) };
}

function fromTombstone([id, { status, until }]: readonly [string, Tombstone]): TombstoneJson {
  return { id, ...fromSeal(status), until };
}

function toTombstone(value: unknown): readonly [string, Tombstone] {
  const { id, until } = object(value);
  return [text(id), { status: toSeal(value), until: time(until) }];
}

function toRecord(value: unknown): KeptUntil {
  const parts = object(value);
  return { text: text(parts.text), until: time(parts.until) };
}

function toNumber(value: unknown): bigint {
  return typeof value === 'string' && /^\d{1,40}$/.test(value) ? BigInt(value) : malformed();
}

function object(value: unknown): JsonParts {
  const is = typeof value === 'object' && value !== null && !Array.isArray(value);
  return is ? (value as JsonParts) : malformed();
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : malformed();
}

function maybe<T>(value: unknown, to: (value: unknown) => T): T | undefined {
  return value === undefined ? undefined : to(value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : malformed();
}

function time(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : malformed();
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : malformed();
}

function malformed(): never {
  const message = 'The text is not a queue of claims.';
  throw new StoreError(message, { retryable: false, outcome: 'failed' });
}

const SEALS: readonly GoneStatus['why'][] = ['evicted', 'handed-over', 'resumed', 'unknown'];
