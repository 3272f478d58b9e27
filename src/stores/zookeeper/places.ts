/**
 * Claims as nodes: their names, and what they hold.
 *
 * A mutex has the name that Curator's `InterProcessMutex` gives its nodes, readers and writers have
 * those of `InterProcessReadWriteLock`, so that its programs stand in the same queues. Curator has
 * no weighted permits, so theirs are our own: `_c_<uuid>-permits-2-of-5-0000000007`. The name has
 * all that decides admission: listing a queue is enough to know it.
 * A queue of the recipe `latch` has nodes of `LeaderLatch` and no others; one of the recipe
 * `semaphore`, leases of `InterProcessSemaphoreV2`, of one permit each, beside our own permits.
 * The uuid comes from the claim's id and has version 8, which is for custom formats; Curator's are
 * random ones of version 4. So the names show which claims are ours.
 */
import type { NodeData, Stat } from '../../clients/zookeeper/wire/requests.ts';
import { type Claim, type Kind, MAX_PERMITS, type Takeover } from '../../contract/store.ts';
import type { QueuePlace, QueueView } from '../consensus/queue-view.ts';
import {
  foreignLife,
  lifeOf,
  type PlaceLife,
  type PlaceTerms,
  termsIn,
} from '../consensus/terms.ts';
import type { Recipe } from './layout.ts';

export interface NodePlace extends QueuePlace {
  readonly name: string;
  /** The number that the server added; it may have overflowed. */
  readonly sequence: number;
}

/** What the stat of a queue's node says of the note in it, and of those that came and went. */
export interface NoteFacts {
  /** 0: there is none. */
  readonly length: number;
  /** It grows with each note, and when one is taken back. */
  readonly version: number;
  /** No claim came or went after it. */
  readonly latest: boolean;
  /** The transaction that created the queue's node. */
  readonly madeBy: bigint;
  /** Twice the number of its children that have been deleted, in 32 bits. */
  readonly departures: number;
  /** The number of the next child, in 31 bits: so many have been created. */
  readonly next: number;
}

export type NodeView = QueueView<NodePlace, NoteFacts>;

export function factsOf(stat: Stat): NoteFacts {
  const { dataLength: length, version, mzxid, pzxid, czxid: madeBy } = stat;
  // `cversion` counts children that came and went; `numChildren` is their difference.
  const departures = (stat.cversion - stat.numChildren) | 0;
  const next = ((stat.cversion + stat.numChildren) >>> 0) / 2;
  return { length, version, latest: mzxid === pzxid, madeBy, departures, next };
}

const UUID = '[\\da-f]{8}-(?:[\\da-f]{4}-){3}[\\da-f]{12}';
const BASE = '(lock-|latch-|lease-|__READ__|__WRIT__)|permits-(\\d+)-of-(\\d+)-';
const NAME = new RegExp(`^(?:_c_(${UUID})-)?(?:${BASE})(-?\\d{9,10})$`);

const SHARED: Readonly<Record<Recipe, Readonly<Record<string, Kind>>>> = {
  locks: { 'lock-': 'mutex', __READ__: 'read', __WRIT__: 'write' },
  latch: { 'latch-': 'mutex' },
  semaphore: { 'lock-': 'mutex', 'lease-': 'permits' },
};

/** Undefined: it is no claim. */
export function placeIn(name: string, recipe: Recipe = 'locks'): NodePlace | undefined {
  const [found, id, shared, permits, limit, sequence] = NAME.exec(name) ?? [];
  if (found === undefined) return undefined;
  const foreign = id?.[14] !== '8';
  const own = { name, id, sequence: Number(sequence), foreign, admitted: false };
  if (shared === undefined) {
    if (recipe === 'latch') return undefined;
    return { ...own, kind: 'permits', permits: Number(permits), limit: Number(limit) };
  }
  const kind = SHARED[recipe][shared];
  if (kind === undefined) return undefined;
  // Each program in Java knows the limit for itself.
  if (kind === 'permits') return { ...own, kind, permits: 1, limit: MAX_PERMITS };
  // A foreign lock is exclusive among permits too: Curator knows none.
  const most = kind === 'mutex' && !foreign ? 1 : MAX_PERMITS;
  return { ...own, kind, permits: kind === 'read' ? 1 : most, limit: most };
}

/** Its name between the uuid and the number. */
export function baseOf(
  { kind, permits, limit }: Pick<Claim, 'kind' | 'permits' | 'limit'>,
  recipe: Recipe = 'locks',
): string {
  if (recipe === 'latch') return 'latch-';
  if (kind === 'mutex') return 'lock-';
  if (kind === 'read') return '__READ__';
  return kind === 'write' ? '__WRIT__' : `permits-${permits}-of-${limit}-`;
}

export function uuidOf({ id }: Pick<Claim, 'id'>): string {
  const hex = `${id.slice(0, 12)}8${id.slice(13, 16)}8${id.slice(17)}`;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The name of the reader that a writer becomes. */
export function asReader(name: string): string {
  return name.replace('__WRIT__', '__READ__');
}

interface NodeTerms extends PlaceTerms {
  /** The claim's number, if this is not its first node. */
  readonly number?: string;
  /** A holder's message to the claim behind it. */
  readonly admitted?: true;
}

/** What is known of a place once its data has been read. */
export interface Details extends PlaceLife {
  readonly number: bigint;
  readonly version: number;
  /** The session that it ends with. */
  readonly session: bigint;
  readonly admitted: boolean;
}

export function dataOf(
  { ttlMs, holder }: Pick<Claim, 'ttlMs' | 'holder'>,
  { number, ...more }: Partial<Omit<NodeTerms, 'number'>> & { readonly number?: bigint } = {},
): Buffer {
  const first = number === undefined ? {} : { number: String(number) };
  return Buffer.from(JSON.stringify({ ttl: ttlMs, holder, ...first, ...more } satisfies NodeTerms));
}

export function detailsIn({ data, stat }: NodeData): Details {
  const { czxid, version, session, ctimeMs: since } = stat;
  const text = data.toString();
  const terms = termsIn<NodeTerms>(text, ['ttl']);
  if (terms) {
    const { number = czxid, admitted = false } = terms;
    return { version, session, ...lifeOf(terms), number: BigInt(number), admitted };
  }
  const host = text === '' || text.includes('\ufffd') ? 'unknown' : text;
  const life = foreignLife({ host, pid: 0, label: 'not of Holdfast', since });
  return { version, session, ...life, number: czxid, admitted: false };
}

/** The least length of a note, except for a release. */
const LONG_NOTE = 64;

/** How the hold of this place ended; its waiter knows it by its place in the order. */
export interface NodeNote extends Takeover {
  readonly sequence: number;
}

/** Short for a release: a claim that finds no other need not read it. */
export function noteData({ reason, token, sequence }: NodeNote): Buffer {
  const text = `${reason} ${token} ${sequence}`;
  return Buffer.from(reason === 'released' ? text : text.padEnd(LONG_NOTE));
}

export function noteIn(data: Buffer): NodeNote | undefined {
  const [, reason, token, sequence] =
    /^(released|evicted) (\d+) (-?\d+) *$/.exec(data.toString()) ?? [];
  if (reason === undefined || token === undefined) return undefined;
  return { reason: reason as Takeover['reason'], token: BigInt(token), sequence: Number(sequence) };
}

/** The note in this queue is on an eviction. */
export function isEvicted({ note }: NodeView): boolean {
  return note !== undefined && note.length >= LONG_NOTE;
}

/** Asks Curator's programs to give up a lock; non-revocable ones ignore it. */
export const REVOKE: Buffer = Buffer.from('__REVOKE__');
