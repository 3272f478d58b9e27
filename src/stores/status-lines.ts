/**
 * The replies of our programs inside a server. A number is a claim that holds alone, with its whole
 * TTL; every other reply is a line of words, the same in replies and in messages:
 * - `h number left waiters limit ended endedBy`, it holds; in a message, followed by a proof;
 * - `w left ahead limit why retry`, it waits; in a reply to a claim, then its turn (`Turn`);
 * - `g why detail`, it is gone; the detail of `refused` is for how long nothing is granted;
 * - `e` and the server's error, this claim alone failed.
 * Durations are in ms, `-` stands for what does not apply.
 */
import { permanentFailure, StoreError } from '../contract/errors.ts';
import { mismatch } from '../contract/gone.ts';
import type {
  ClaimStatus,
  GoneReason,
  Holder,
  Kind,
  Member,
  Takeover,
  Traits,
  WaitingStatus,
} from '../contract/store.ts';

/** Of a store whose queues are in a server, which decides on its own clock. */
export const SERVER_QUEUES: Traits = {
  queue: true,
  permits: true,
  tokens: "the server's time, or one more than the last",
  atomicTry: true,
  clock: 'server',
  failover: 'best-effort',
  reach: 'network',
  records: true,
  replaces: true,
  sequential: true,
  hintsGrant: true,
};

/** A waiting claim's number, and the claim right before it. */
export interface Turn {
  readonly number: bigint;
  readonly behind: { readonly tag: string; readonly number: bigint };
}

/** Only the store that returns it knows that there is more. */
export interface TurnStatus extends WaitingStatus {
  readonly turn?: Turn | undefined;
}

export const KINDS: Readonly<Record<string, Kind>> = {
  m: 'mutex',
  r: 'read',
  w: 'write',
  p: 'permits',
};

export function letterOf(kind: Kind): string {
  return kind[0] ?? '';
}

export function statusOf(reply: unknown, ttlMs: number): ClaimStatus {
  if (typeof reply === 'number') {
    return { state: 'held', token: BigInt(reply), leftMs: ttlMs, waiters: 0 };
  }
  if (typeof reply === 'string') return statusIn(reply);
  return { state: 'error', error: garbled(reply) };
}

export function lineOf(status: ClaimStatus): string {
  if (status.state === 'held') {
    const { token, leftMs, waiters, limit = '-', takeover } = status;
    const ended = takeover ? [takeover.reason, takeover.token] : ['-', 0];
    return ['h', token, Math.ceil(leftMs), waiters, limit, ...ended].join(' ');
  }
  if (status.state === 'waiting') {
    const { leftMs, ahead = 1, limit = '-', why, retryInMs } = status;
    return ['w', Math.ceil(leftMs), ahead, limit, why, Math.ceil(retryInMs)].join(' ');
  }
  // A reason may be of several lines, so a claim that is gone has to ask.
  return '?';
}

export function statusIn(line: string): ClaimStatus {
  try {
    const [state, ...words] = line.split(' ');
    if (state === 'h') return held(words);
    if (state === 'w') return waiting(words);
    const [why = '', ...detail] = words;
    if (state === 'g') return gone(why as GoneReason, detail.join(' '));
    if (state === 'e') return { state: 'error', error: refused(words.join(' ')) };
  } catch {
    // One of its numbers is none.
  }
  return { state: 'error', error: garbled(line) };
}

function held(words: readonly string[]): ClaimStatus {
  const [number = '', left, waiters, limit, ended, endedBy = ''] = words;
  const takeover =
    ended === '-' ? undefined : { reason: ended as Takeover['reason'], token: BigInt(endedBy) };
  return {
    state: 'held',
    token: BigInt(number),
    leftMs: Number(left),
    waiters: Number(waiters),
    ...(takeover && { takeover }),
    ...(limit !== '-' && { limit: Number(limit) }),
  };
}

function waiting(words: readonly string[]): TurnStatus {
  const [left, ahead, limit, why, retry, number, tag, before] = words;
  return {
    state: 'waiting',
    leftMs: Number(left),
    ahead: Number(ahead),
    retryInMs: Number(retry),
    why: why === 'data-loss' ? 'data-loss' : 'queue',
    ...(limit !== '-' && { limit: Number(limit) }),
    ...(number && { turn: turnIn(number, tag, before) }),
  };
}

/** Undefined behind a claim whose process does not listen, for that has no tag. */
export function turnIn(number: string, tag = '-', before = ''): Turn | undefined {
  if (tag === '-') return undefined;
  return { number: BigInt(number), behind: { tag, number: BigInt(before) } };
}

function gone(why: GoneReason, detail: string): ClaimStatus {
  if (why === 'refused' && detail !== '') {
    return { state: 'gone', why, quarantineMs: Number(detail) };
  }
  if (why !== 'mismatch') return { state: 'gone', why, ...(detail !== '' && { detail }) };
  return mismatch(KINDS[detail] as Kind);
}

export interface StandingLine {
  readonly held: boolean;
  readonly limit: number;
  readonly member: Member;
}

/** The claim in a line of `inspect`. */
export function standingIn(line: unknown): StandingLine {
  try {
    const words = String(line).split(' ');
    const [state, number = '', kind = '', permits, limit, ttl, left] = words;
    return {
      held: state === 'h',
      limit: Number(limit),
      member: {
        number: BigInt(number),
        kind: KINDS[kind] ?? 'mutex',
        permits: Number(permits),
        ttlMs: Number(ttl),
        leftMs: Number(left),
        holder: JSON.parse(words.slice(7).join(' ')) as Holder,
      },
    };
  } catch {
    throw garbled(line);
  }
}

/** This claim's key holds data that is not ours. */
function refused(said: string): StoreError {
  return permanentFailure(`The store refused this claim alone: ${said}.`);
}

export function garbled(reply: unknown): StoreError {
  const message = `The server returned an invalid answer: ${JSON.stringify(reply)}.`;
  return new StoreError(message, { retryable: false, outcome: 'unknown' });
}
