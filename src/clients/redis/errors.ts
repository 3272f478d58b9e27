/**
 * What Redis's refusals and a client's connection errors mean to a caller.
 *
 * A server refuses before it does anything, so a refused command has not happened; only a script
 * that fails half-way may have. A connection that breaks after a command was written leaves its
 * outcome unknown; before that, the command never left.
 * No error carries a secret: a cause is a copy of name and message without a command's arguments
 * (claim ids and passwords), wherever the client or the server put them.
 */
import { isError, isLockError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import { type Breaks, breakOf } from '../breaks.ts';
import { causeFrom, copyOf, describe, withoutSecrets } from '../causes.ts';
import type { Judgement } from '../wire.ts';
import type { RedisRefusal, RedisReply } from './link.ts';

/** What a refusal says of the server, by its beginning. Continues "The Redis server". */
type Advice = Readonly<Record<string, string>>;

const PASSING: Advice = {
  NOSCRIPT: 'has lost the script; the store loads it again',
  UNSETTLED: 'changed during the request; the store asks again',
  CLOCK: 'has a clock that cannot be right',
  READONLY:
    'is a replica and takes no writes. After a fail-over the store looks up the primary again',
  LOADING: 'is still loading its data after a start',
  BUSY: 'is busy with a long script. Look for it with SLOWLOG, or use SCRIPT KILL',
  MASTERDOWN: 'is a replica that has lost its primary',
  CLUSTERDOWN: 'does not serve this slot at the moment. Look at CLUSTER INFO if it stays like that',
  TRYAGAIN: 'is moving this slot to another server',
  MOVED: 'has handed this slot to another server',
  ASK: 'is handing this slot to another server',
  OOM: 'has used up its memory (maxmemory). Give the locks a server with room',
  NOREPLICAS: 'has fewer good replicas than its min-replicas-to-write requires',
  MISCONF: 'cannot save its data to disk and therefore takes no writes. Look at its log',
  'ERR max number of clients': 'has no connection left (maxclients)',
};

const LASTING: Advice = {
  NOIDENTITY:
    'does not identify itself, so that a loss of data could go unnoticed. Only with' +
    " afterDataLoss: 'trust' does the store grant locks on it",
  NOAUTH: 'requires a password. Give the client one',
  WRONGPASS: 'does not know this user name and password. Check those that the client was given',
  NOPERM: 'does not permit this user to do that. docs/stores/redis.md has the ACL that is needed',
  CROSSSLOT: 'is part of a cluster and was asked for keys of several slots',
  WRONGTYPE: 'has data of another type under the key. Use another namespace for the locks',
  'ERR unknown command': 'is too old: Redis 7.0 or Valkey 7.2 is needed',
  'ERR This instance has cluster support disabled':
    'is not part of a cluster. Give the store a plain client',
};

const BREAKS: Breaks = [
  [
    /Protocol error|Unknown RESP type|Unexpected (?:response|type)|Invalid (?:RESP|type)/i,
    { retryable: false, advice: 'sent a reply that does not follow the Redis protocol' },
  ],
  [
    /All sentinels are unreachable|None of the sentinels|valid master node/,
    { retryable: true, advice: 'is not known to any Sentinel that can be reached' },
  ],
  [
    /startup nodes|root nodes|Failed to refresh slots/,
    { retryable: true, advice: 'is a cluster, and none of its nodes can be reached' },
  ],
];

/** Errors of a client that has not written the command. */
const NEVER_WRITTEN = /isn't writeable|client is (?:closed|offline)|queue is full/;

/** `NOSCRIPT` of "NOSCRIPT No matching script". Clients' own errors do not begin like that. */
const CODE = /^([A-Z][A-Z0-9_]+)(?: |$)/;

/** The server's reply, if this error of a client is one. */
export function refusalIn(error: unknown): string | undefined {
  if (!isError(error) || 'syscall' in error) return undefined;
  return CODE.test(error.message) ? clean(error.message) : undefined;
}

export function isRefusal(answer: RedisReply | RedisRefusal): answer is RedisRefusal {
  return typeof answer === 'object' && answer !== null && 'refusal' in answer;
}

const REDIRECTIONS = new Set(['MOVED', 'ASK', 'TRYAGAIN', 'CLUSTERDOWN']);

/** A server of a cluster says that another has the slot, or may have it soon. */
export function isRedirection(answer: RedisReply | RedisRefusal): answer is RedisRefusal {
  return isRefusal(answer) && REDIRECTIONS.has(refusalCode(answer.refusal) ?? '');
}

/** The first word of a refusal, such as `NOSCRIPT`, also from the error made of it. */
export function refusalCode(refusal: unknown): string | undefined {
  const text = isLockError(refusal, 'STORE') ? (refusal.cause as Error)?.message : refusal;
  return typeof text === 'string' ? CODE.exec(text)?.[1] : undefined;
}

/** A refusal of the server, as a `StoreError` that says what to do. */
export function refused(refusal: string): StoreError {
  const said = clean(refusal);
  const passing = adviceIn(PASSING, said);
  const advice = passing ?? adviceIn(LASTING, said) ?? 'refused';
  const halfWay = said.includes('script:') || said.includes('user_script');
  return new StoreError(`The Redis server ${advice} (${said}).`, {
    cause: copyOf('ReplyError', said),
    retryable: passing !== undefined,
    outcome: halfWay ? 'unknown' : 'failed',
  });
}

function adviceIn(table: Advice, said: string): string | undefined {
  return Object.entries(table).find(([start]) => said.startsWith(start))?.[1];
}

/** A refusal leaves the connection, unless it comes from a replica; any other error ends it. */
export function judge(error: unknown, during: 'open' | 'call'): Judgement {
  const refusal = refusalIn(error);
  const broken = refusal === undefined || refusalCode(refusal) === 'READONLY';
  return { error: connectionError(error, during === 'call'), broken };
}

/** A client's error, when it could not connect or the connection broke, as a `StoreError`. */
export function connectionError(error: unknown, written: boolean): StoreError {
  if (isLockError(error, 'STORE')) return error as StoreError;
  const refusal = refusalIn(error);
  if (refusal !== undefined) return refused(refusal);
  const said = describe(error, { clean });
  const { retryable, advice } = breakOf(said, BREAKS);
  return new StoreError(`The Redis server ${advice} (${said}).`, {
    cause: causeFrom(error, said),
    // A server that has worked before will most likely work again.
    retryable: retryable || written,
    outcome: written && !NEVER_WRITTEN.test(said) ? 'unknown' : 'failed',
  });
}

/** Servers repeat the arguments of an unknown command. */
function clean(text: string): string {
  return withoutSecrets(text.replace(/,? with args beginning with:?.*$/is, ''));
}
