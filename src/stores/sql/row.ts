/**
 * The row of a lock, as a queue and back.
 *
 * A row is plain, or odd. Plain: the claim that holds is in its columns, and behind it wait only
 * claims of the same kind that want the whole limit, as it does: each a line of `crowd`, in their
 * order. Or no claim holds, and there is nothing to remember. Statements of the database change
 * plain rows without reading them. Every other queue is odd: a text that only this file reads.
 * What would break it: a queue with more than that written as plain, because the statements would
 * lose the rest.
 */
import type { Claim, Takeover } from '../../contract/store.ts';
import { fromJson, type QueueJson } from '../../queue/json.ts';
import { ClaimQueue } from '../../queue/queue.ts';
import { type Entry, entryOf } from '../../queue/state.ts';
import { KINDS, letterOf } from '../status-lines.ts';

/** The columns of an empty row; times are µs by the server's clock. */
const EMPTY = {
  last: 0,
  id: null as string | null,
  number: null as number | null,
  until: 0,
  ttl: null as number | null,
  kind: null as string | null,
  permits: null as number | null,
  capacity: null as number | null,
  tag: null as string | null,
  holder: null as string | null,
  ended: null as Takeover['reason'] | null,
  ended_by: null as number | null,
  waiters: 0,
  crowd: '',
  /** When the last of the crowd ends unless it is renewed. */
  tail: null as number | null,
  state: null as string | null,
};

export type LockColumns = Readonly<typeof EMPTY>;

export interface LockRow extends LockColumns {
  readonly name: string;
  readonly rev: number;
}

/** The columns of a queue, in the order in which they are read, behind the name and `rev`. */
export const COLUMNS: readonly string[] = Object.keys(EMPTY);

/** What was read together with the rows; times in µs. */
export interface RowMoment {
  readonly now: number;
  /** Nothing is granted before. */
  readonly openAt: number;
  /** Above the numbers of rows that are gone. */
  readonly highest: number;
}

/** A queue, and where the processes of its claims listen. */
export interface Crowd {
  readonly queue: ClaimQueue;
  readonly tags: Map<string, string>;
}

/** No process listens for it. */
export const NO_TAG = '- -';

interface Odd {
  readonly queue: QueueJson;
  readonly tags: Readonly<Record<string, string>>;
}

/** The queue in a row; a row that is not there is an empty one. */
export function crowdOf(row: LockRow | undefined, { openAt }: Pick<RowMoment, 'openAt'>): Crowd {
  const closedUntil = openAt / 1000;
  if (!row) return { queue: new ClaimQueue({ closedUntil }), tags: new Map() };
  const last = BigInt(row.last);
  if (row.state !== null) {
    const { queue, tags } = JSON.parse(row.state) as Odd;
    const state = { ...fromJson(queue), last, closedUntil };
    return { queue: new ClaimQueue(state), tags: new Map(Object.entries(tags)) };
  }
  const tags = new Map<string, string>();
  const claims = plainEntries(row, tags);
  return { queue: new ClaimQueue({ last, closedUntil, claims }), tags };
}

/** The columns that are the same queue, after it was settled. */
export function columnsOf({ queue, tags }: Crowd, now: number): LockColumns {
  queue.tidy(now / 1000);
  const { last, claims, tombstones, unfinished } = queue.state;
  const [holder, ...waiters] = claims;
  const common = { ...EMPTY, last: Number(last), until: now };
  const remembers = unfinished !== undefined || [...tombstones].length > 0;
  if (!holder && !remembers) return common;
  if (holder && !remembers && isPlain(holder, waiters)) {
    const { id, number, ttlMs: ttl, permits, limit: capacity, takeover } = holder;
    return {
      ...common,
      id,
      number: Number(number),
      ttl: Math.ceil(ttl),
      kind: letterOf(holder.kind),
      permits,
      capacity,
      until: micros(holder.expiresAt),
      tag: tags.get(id) ?? NO_TAG,
      holder: JSON.stringify(holder.holder),
      ended: takeover?.reason ?? null,
      ended_by: takeover ? Number(takeover.token) : null,
      waiters: waiters.length,
      tail: waiters.length > 0 ? micros(waiters.at(-1)?.expiresAt ?? 0) : null,
      crowd: waiters.map((waiter) => lineOf(waiter, tags)).join(''),
    };
  }
  const all = [...claims];
  const lives = all.map(({ expiresAt }) => expiresAt);
  const ends = [...lives, ...[...tombstones].map(([, tombstone]) => tombstone.until)];
  const odd: Odd = {
    queue: { ...queue.toJSON(), closedUntil: undefined },
    tags: Object.fromEntries(all.map(({ id }) => [id, tags.get(id) ?? NO_TAG])),
  };
  return { ...common, until: Math.max(now, ...ends.map(micros)), state: JSON.stringify(odd) };
}

function isPlain(holder: Entry, waiters: readonly Entry[]): boolean {
  if (!holder.admitted || holder.sealed) return false;
  const { kind, permits, limit } = holder;
  if (waiters.length > 0 && permits < limit) return false;
  return waiters.every((each) => {
    const same = each.kind === kind && each.permits === permits && each.limit === limit;
    return same && !each.admitted && !each.sealed;
  });
}

function plainEntries(row: LockRow, tags: Map<string, string>): Entry[] {
  if (row.id === null) return [];
  const { permits, capacity, tag, until, id, number, ttl, holder } = row;
  const kind = KINDS[String(row.kind)] ?? 'mutex';
  const terms = { kind, permits: Number(permits), limit: Number(capacity) };
  const takeover: Takeover | undefined =
    row.ended === null ? undefined : { reason: row.ended, token: BigInt(Number(row.ended_by)) };
  const words = [number, until, id, ttl, tag, 'f', holder].map(String);
  const entries = [entryIn(words, terms, tags)];
  for (const line of row.crowd.split('\n').slice(0, -1)) {
    entries.push(entryIn(line.split('\t'), terms, tags));
  }
  const [own, next] = entries;
  if (own) {
    own.admitted = true;
    own.takeover = takeover;
  }
  // The statement that lets one in wakes the next, and the first to come learns it from its reply.
  if (next) next.first = true;
  return entries;
}

function entryIn(
  [number, until, id = '', ttl, tag = NO_TAG, trusts, holder = '{}']: readonly string[],
  terms: Pick<Claim, 'kind' | 'permits' | 'limit'>,
  tags: Map<string, string>,
): Entry {
  tags.set(id, tag);
  const own = { id, ttlMs: Number(ttl), holder: JSON.parse(holder) };
  const entry = entryOf({ ...terms, ...own }, BigInt(number ?? 0), Number(until) / 1000);
  entry.trusts = trusts === 't';
  return entry;
}

function lineOf(entry: Entry, tags: Map<string, string>): string {
  const { number, expiresAt, id, ttlMs, trusts, holder } = entry;
  const tag = tags.get(id) ?? NO_TAG;
  const words = [number, micros(expiresAt), id, Math.ceil(ttlMs), tag, trusts ? 't' : 'f'];
  return `${[...words, JSON.stringify(holder)].join('\t')}\n`;
}

function micros(ms: number): number {
  return Math.round(ms * 1000);
}
