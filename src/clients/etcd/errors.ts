/**
 * What etcd's refusals, and broken connections, mean for a lock.
 *
 * Most refusals come before a request is proposed to the cluster, or from carrying it out as a
 * whole, which then did nothing. Refusals that report a timeout in the cluster say nothing about
 * the outcome, and neither does a connection that breaks under a sent request. A request with an
 * unknown refusal may have happened.
 */
import { isError, isLockError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import { type Breaks, breakOf, type ErrorMeaning } from '../breaks.ts';
import { copyOf, describe, withoutSecrets } from '../causes.ts';

export const Status = {
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export class EtcdRefusal extends Error {
  override readonly name = 'EtcdRefusal';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class NoAnswer extends Error {
  override readonly name = 'EtcdNoAnswer';
  /** False: the request has surely not been carried out. */
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super(describe(cause), { cause });
    this.sent = sent;
  }
}

/** A refused request was not carried out: it may be `later`, or `never`; or that is unclear. */
type EtcdFate = 'later' | 'never' | 'unclear';

const LEASE_GONE = 'etcdserver: requested lease not found';
const FULL = 'etcdserver: mvcc: database space exceeded';

const QUOTA = 'has used up its quota. Compact and defragment it, then clear the alarm with etcdctl';
const TOO_LARGE = 'does not accept requests of this size. Look at its --max-request-bytes';
const TOO_MANY = 'does not accept so many operations at once. Look at its --max-txn-ops';
const ROLE =
  'does not permit this user to do that. The role that it needs is in' +
  ' node_modules/holdfast/docs/stores/etcd.md#permissions';
const PASSWORD = 'does not know this user name and password. Check those that it was given';
const NO_USER = 'requires a user name and password. Put them into the address';

const REFUSALS: readonly (readonly [starts: string, fate: EtcdFate, advice: string])[] = [
  ['etcdserver: no leader', 'later', 'has no leader, or is cut off from it'],
  ['raft proposal dropped', 'later', 'has no leader'],
  ['etcdserver: not leader', 'later', 'is no longer the leader'],
  ['etcdserver: too many requests', 'later', 'is too busy'],
  [LEASE_GONE, 'later', 'does not know the lease (any more)'],
  ['etcdserver: leader changed', 'unclear', 'has changed its leader meanwhile'],
  ['etcdserver: request timed out', 'unclear', 'waited too long for the other servers'],
  ['etcdserver: server stopped', 'unclear', 'was stopped'],
  [FULL, 'later', QUOTA],
  ['etcdserver: corrupt cluster', 'never', 'has found its data corrupt'],
  ['etcdserver: permission denied', 'never', ROLE],
  ['etcdserver: authentication failed', 'never', PASSWORD],
  ['etcdserver: user name is empty', 'never', NO_USER],
  ['etcdserver: invalid auth token', 'later', 'does not know the token of this user'],
  ['etcdserver: revision of auth store is old', 'later', 'has new users or roles'],
  ['etcdserver: request is too large', 'never', TOO_LARGE],
  ['grpc: received message larger than max', 'never', TOO_LARGE],
  ['etcdserver: too many operations in txn request', 'never', TOO_MANY],
];

/** Other replies, by gRPC status. */
const STATES: readonly (readonly [status: number, fate: EtcdFate, advice: string])[] = [
  [Status.invalidArgument, 'never', 'refused'],
  [Status.notFound, 'never', 'refused'],
  [Status.permissionDenied, 'never', 'refused'],
  [Status.failedPrecondition, 'never', 'refused'],
  [Status.outOfRange, 'never', 'refused'],
  [Status.unimplemented, 'never', 'is not etcd, or is older than 3.4'],
  [Status.unauthenticated, 'later', 'does not know the token of this user'],
  [Status.resourceExhausted, 'later', 'has no room for this request'],
  [Status.deadlineExceeded, 'unclear', 'took too long'],
  [Status.unavailable, 'unclear', 'is not available'],
];
/** Any other status says nothing. */
const FAILED = [undefined, 'unclear', 'failed'] as const;

/** What no etcd sends. */
const FOREIGN: Breaks = [
  [/ERR_HTTP2_ERROR|MalformedError|not of etcd/, 'never', 'sent a reply that is not from etcd'],
];

export function storeError(error: unknown): StoreError {
  if (isLockError(error, 'STORE')) return error as StoreError;
  if (error instanceof EtcdRefusal) {
    const { name, status } = error;
    const said = withoutSecrets(error.message) || `gRPC state ${status}`;
    const known = REFUSALS.find(([start]) => said.startsWith(start));
    const [, fate, advice] = known ?? STATES.find(([state]) => state === status) ?? FAILED;
    const outcome = fate === 'unclear' ? 'unknown' : 'failed';
    return errorOf(name, said, { advice, retryable: fate !== 'never', outcome });
  }
  const said = error instanceof NoAnswer ? withoutSecrets(error.message) : describe(error);
  const sent = !(error instanceof NoAnswer) || error.sent;
  const outcome = sent ? 'unknown' : 'failed';
  return errorOf('EtcdNoAnswer', said, { ...breakOf(said, FOREIGN), outcome });
}

function errorOf(
  name: string,
  said: string,
  { advice, retryable, outcome }: ErrorMeaning,
): StoreError {
  const cause = copyOf(name, said);
  return new StoreError(`The etcd server ${advice} (${said}).`, { cause, retryable, outcome });
}

/** The server's error for a dead lease, without asking it. */
export function leaseGone(): StoreError {
  return storeError(new EtcdRefusal(Status.notFound, LEASE_GONE));
}

export function isLeaseGone(error: unknown): boolean {
  return saidBy(error).startsWith(LEASE_GONE);
}

/** True if there is no room for a put; deletions are still possible. */
export function isFull(error: unknown): boolean {
  return saidBy(error).startsWith(FULL);
}

/** True if this server cannot serve, but others may. */
export function isLeaderless(error: unknown): boolean {
  return /^(etcdserver: no leader|raft proposal dropped)/.test(saidBy(error));
}

/** True if another token may help; the request was surely not carried out. */
export function isTokenOld(error: unknown): boolean {
  return /^etcdserver: (invalid auth token|revision of auth store|user name is empty)/.test(
    saidBy(error),
  );
}

function saidBy(error: unknown): string {
  if (error instanceof EtcdRefusal) return error.message;
  if (!isLockError(error, 'STORE')) return '';
  const { cause } = error;
  return isError(cause) && cause.name === 'EtcdRefusal' ? cause.message : '';
}
