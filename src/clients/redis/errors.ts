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

const PERMISSIONS = 'node_modules/holdfast/docs/stores/redis.md#permissions';

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
  NOPERM: `does not permit this user to do that. ${PERMISSIONS} has the ACL that is needed`,
  CROSSSLOT:
    'is part of a cluster and was asked for keys of several slots. Give the store a cluster' +
    ' client or, where the cluster has one endpoint, a hashTag',
  WRONGTYPE: 'has data of another type under the key. Use another namespace for the locks',
  'ERR unknown command':
    'does not know this command: it is older than Redis 7.0 or Valkey 7.2, or has renamed it',
  SENTINEL:
    'is a Sentinel, which keeps no data. Connect through it: by redis+sentinel://host:26379/name,' +
    ' new Redis({ sentinels, name }) of ioredis, or createSentinel() of the package redis',
  'ERR This instance has cluster support disabled':
    'is not part of a cluster. Give the store a plain client',
};

/** Commands without which no script runs; a server names the one that it refuses. */
const SCRIPTING = /^(?:ERR unknown command|NOPERM) .*['`](?:eval|evalsha|script)(?:\|\w+)?['`]/i;

const NO_SCRIPTS =
  'runs no scripts for this client: EVALSHA or SCRIPT LOAD is switched off, by an ACL or by' +
  ` rename-command, or it is a Sentinel. The locks need both (${PERMISSIONS})`;

/** An alert of TLS begins with this byte. */
const TLS = /Unknown RESP type 21\b|got "\\u0015"/;
const GARBAGE =
  /Protocol error|Unknown RESP type|Unexpected (?:response|type)|Invalid (?:RESP|type)/i;
const UNNAMED = /All sentinels are unreachable|None of the sentinels|valid master node/;
const NO_NODES = /startup nodes|root nodes|Failed to refresh slots/;

const BREAKS: Breaks = [
  [TLS, 'never', 'speaks TLS at this port, and the client does not'],
  [GARBAGE, 'never', 'sent a reply that does not follow the Redis protocol'],
  [UNNAMED, 'later', 'is not known to any Sentinel that can be reached'],
  [NO_NODES, 'mute', 'is a cluster, and none of its nodes can be reached'],
];

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

export function refused(refusal: string): StoreError {
  const said = clean(refusal);
  const passing = adviceIn(PASSING, said);
  const lasting = SCRIPTING.test(said) ? NO_SCRIPTS : adviceIn(LASTING, said);
  const advice = passing ?? lasting ?? 'refused';
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
  if (isLockError(error, 'STORE')) return { error: error as StoreError, broken: true };
  const refusal = refusalIn(error);
  if (refusal !== undefined) {
    return { error: refused(refusal), broken: refusalCode(refusal) === 'READONLY' };
  }
  const said = describe(error, clean);
  const { retryable, advice, mute } = breakOf(said, BREAKS);
  const written = during === 'call';
  const judged = new StoreError(`The Redis server ${advice} (${said}).`, {
    cause: causeFrom(error, said),
    // A server that has worked before will most likely work again.
    retryable: retryable || written,
    outcome: written && !NEVER_WRITTEN.test(said) ? 'unknown' : 'failed',
  });
  return { error: judged, broken: true, mute };
}

/** What to ask of a server that has never replied, by whether the client speaks TLS. */
export function questionOf(tls?: boolean): string {
  const client = tls
    ? 'The client speaks TLS; does this server?'
    : 'The client speaks no TLS; does this server want it?';
  return `${tls === undefined ? 'Do both sides agree on TLS?' : client} Is it a Redis server?`;
}

/** Servers repeat the arguments of an unknown command. */
function clean(text: string): string {
  return withoutSecrets(text.replace(/,? with args beginning with:?.*$/is, ''));
}
