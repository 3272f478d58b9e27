/** What nodes hold: a claim's terms and holder, or how holds ended. */
import type { Claim, GoneStatus, Holder, Takeover } from '../../contract/store.ts';
import { LONG_NOTE } from './queue.ts';
import type { NodeData } from './requests.ts';

/** Why a claim takes no more heartbeats. */
export interface Seal {
  readonly sealed: 'unknown' | 'evicted';
  readonly detail?: string | undefined;
  /** For how long it stays, in ms. */
  readonly lasts: number;
}

interface Terms extends Partial<Seal> {
  readonly ttl: number;
  readonly holder: Holder;
  /** The claim's number, if this is not its first node. */
  readonly number?: string;
  /** A holder's message to the claim behind it. */
  readonly admitted?: true;
}

/** What is known of a place once its data has been read. */
export interface Details {
  readonly number: bigint;
  readonly version: number;
  /** The session that it ends with. */
  readonly session: bigint;
  readonly ttlMs: number | undefined;
  /** For how long it stays without heartbeats; undefined: not known. */
  readonly lastsMs: number | undefined;
  readonly holder: Holder;
  readonly admitted: boolean;
  readonly sealed: GoneStatus | undefined;
}

export function dataOf(
  { ttlMs, holder }: Pick<Claim, 'ttlMs' | 'holder'>,
  more: Partial<Pick<Terms, 'admitted'> & Seal> & { readonly number?: bigint } = {},
): Buffer {
  const { number, ...others } = more;
  const first = number === undefined ? {} : { number: String(number) };
  return Buffer.from(JSON.stringify({ ttl: ttlMs, holder, ...first, ...others } satisfies Terms));
}

export function detailsIn({ data, stat }: NodeData): Details {
  const terms = termsIn(data);
  const { czxid, version, session } = stat;
  const common = { version, session };
  if (!terms) {
    const text = data.toString();
    const host = text === '' || text.includes('\ufffd') ? 'unknown' : text;
    const holder = { host, pid: 0, label: 'not of Holdfast', since: stat.ctimeMs };
    const nothing = { ttlMs: undefined, lastsMs: undefined, sealed: undefined };
    return { ...common, ...nothing, number: czxid, holder, admitted: false };
  }
  const { number, ttl, holder, admitted = false, sealed, detail, lasts = ttl } = terms;
  const gone: GoneStatus | undefined = sealed && {
    state: 'gone',
    why: sealed,
    ...(detail !== undefined && { detail }),
  };
  const lives = { ttlMs: ttl, lastsMs: lasts, sealed: gone };
  return { ...common, ...lives, number: BigInt(number ?? czxid), holder, admitted };
}

function termsIn(data: Buffer): Terms | undefined {
  try {
    const terms = JSON.parse(data.toString()) as Terms | null;
    return Number.isFinite(terms?.ttl) && typeof terms?.holder?.host === 'string'
      ? terms
      : undefined;
  } catch {
    return undefined;
  }
}

/** How the hold of this place ended; its waiter knows it by its place in the order. */
export interface Note extends Takeover {
  readonly sequence: number;
}

/** Short for a release: a claim that finds no other need not read it. */
export function noteData({ reason, token, sequence }: Note): Buffer {
  const text = `${reason} ${token} ${sequence}`;
  return Buffer.from(reason === 'released' ? text : text.padEnd(LONG_NOTE));
}

export function noteIn(data: Buffer): Note | undefined {
  const [, reason, token, sequence] =
    /^(released|evicted) (\d+) (-?\d+) *$/.exec(data.toString()) ?? [];
  if (reason === undefined || token === undefined) return undefined;
  return {
    reason: reason as Takeover['reason'],
    token: BigInt(token),
    sequence: Number(sequence),
  };
}

/** Asks Curator's programs to give up a lock; non-revocable ones ignore it. */
export const REVOKE: Buffer = Buffer.from('__REVOKE__');
