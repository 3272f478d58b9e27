/**
 * What ZooKeeper's error codes and broken connections mean for a lock.
 *
 * A server's refusal is a reply: the request has not happened. If the connection ends or a deadline
 * passes, a request that was written may have happened; one that was never written has failed. No
 * message repeats data or credentials; paths are names, not secrets.
 */
import { beforeThat, isError, isLockError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import { breakOf } from '../breaks.ts';
import { causeFrom, describe } from '../causes.ts';

/** The number in the reply, ZooKeeper's name for it, whether to retry, and what the server did. */
const REFUSALS = [
  [-1, 'SYSTEMERROR', 'later', 'failed inside. Look at its log', 'unknown'],
  [-2, 'RUNTIMEINCONSISTENCY', 'later', 'did nothing: a step before this one failed'],
  [-3, 'DATAINCONSISTENCY', 'never', 'found its data inconsistent. Look at its log', 'unknown'],
  [-4, 'CONNECTIONLOSS', 'later', 'lost the connection to its leader', 'unknown'],
  [-5, 'MARSHALLINGERROR', 'never', 'could not read the request'],
  [-6, 'UNIMPLEMENTED', 'never', 'does not know this request: 3.6 or newer is needed'],
  [-7, 'OPERATIONTIMEOUT', 'later', 'took too long', 'unknown'],
  [-8, 'BADARGUMENTS', 'never', 'does not take these arguments'],
  [-100, 'APIERROR', 'never', 'does not take this request'],
  [-101, 'NONODE', 'later', 'has no such node'],
  [-102, 'NOAUTH', 'never', 'does not permit that. Check auth and the ACL of the node'],
  [-103, 'BADVERSION', 'later', 'has another version of the node'],
  [-108, 'NOCHILDRENFOREPHEMERALS', 'never', 'does not let an ephemeral node have children'],
  [-110, 'NODEEXISTS', 'later', 'has that node already'],
  [-111, 'NOTEMPTY', 'later', 'does not delete a node that has children'],
  [-112, 'SESSIONEXPIRED', 'later', 'has ended the session'],
  [-114, 'INVALIDACL', 'never', 'does not take this ACL. Check auth and acl'],
  [-115, 'AUTHFAILED', 'never', 'does not take these credentials'],
  [-118, 'SESSIONMOVED', 'later', 'has seen the session move to another server'],
  [-119, 'NOTREADONLY', 'later', 'is cut off from the others, and read-only'],
  [-122, 'REQUESTTIMEOUT', 'later', 'took too long', 'unknown'],
  [-125, 'QUOTAEXCEEDED', 'never', 'has a quota on this path, which is used up'],
  [-127, 'THROTTLEDOP', 'later', 'has too much to do'],
] as const;
const UNKNOWN_NUMBER = 'refused, for a reason that is not known here';
const UNKNOWN = [0, 'UNKNOWN', 'never', UNKNOWN_NUMBER, 'unknown'] as const;

/**
 * Why a request failed, by ZooKeeper's own names; three are this client's: `GARBAGE`, the reply is
 * unreadable; `TOOLONG`, the request exceeds the servers' limit, or its reply this client's;
 * `UNKNOWN`, a number that it does not know.
 */
export type RefusalReason = (typeof REFUSALS)[number][1] | 'GARBAGE' | 'TOOLONG' | 'UNKNOWN';

type FailureOptions = ConstructorParameters<typeof StoreError>[1] & {
  readonly step?: number | undefined;
};

export class RequestError extends StoreError {
  readonly reason: RefusalReason;
  /** Which step of a `multi` was refused, from 0 on. */
  readonly step: number | undefined;

  constructor(reason: RefusalReason, message: string, { step, ...options }: FailureOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.reason = reason;
    this.step = step;
  }
}

export function failedWith(error: unknown, reason: RefusalReason): error is RequestError {
  return isLockError(error, 'STORE') && (error as Partial<RequestError>).reason === reason;
}

/** For a request about a node that may be missing: undefined if it is. */
export function unlessMissing(error: unknown): undefined {
  if (!failedWith(error, 'NONODE')) throw error;
}

export function unlessThere(error: unknown): undefined {
  if (!failedWith(error, 'NODEEXISTS')) throw error;
}

/** A server's refusal. `about` is the path of the request. */
export function refused(code: number, about: string, step?: number): RequestError {
  const known = REFUSALS.find(([number]) => number === code) ?? UNKNOWN;
  const [, reason, retry, advice, outcome = 'failed'] = known;
  const where = about === '' ? '' : ` at ${JSON.stringify(about)}`;
  const text = `The ZooKeeper server ${advice} (${reason} ${code}${where}).`;
  return new RequestError(reason, text, { retryable: retry === 'later', outcome, step });
}

export function connectionLoss(why: unknown, written: boolean): RequestError {
  const said = describe(why);
  const reason = isError(why) && why.name === 'GarbageError' ? 'GARBAGE' : 'CONNECTIONLOSS';
  const wrongTls = !breakOf(said).retryable;
  const advice = wrongTls ? '. Check tls, the port and the certificates' : '';
  return new RequestError(reason, `No connection to a ZooKeeper server: ${said}${advice}.`, {
    cause: causeFrom(why, said),
    retryable: written || !wrongTls,
    outcome: written ? 'unknown' : 'failed',
  });
}

/** The deadline passed; `why` is the last trouble with the connection. */
export function tooLate(ms: number, written: boolean, why: unknown): RequestError {
  const also = why === undefined ? '' : beforeThat(describe(why));
  return new RequestError('OPERATIONTIMEOUT', `ZooKeeper did not answer in ${ms} ms${also}.`, {
    retryable: true,
    outcome: written ? 'unknown' : 'failed',
  });
}

/** Requests sent after bad credentials were ignored; earlier ones may have been done. */
export function authFailed(written: boolean): RequestError {
  const { reason, message, retryable } = refused(-115, '');
  return new RequestError(reason, message, { retryable, outcome: written ? 'unknown' : 'failed' });
}

export function sessionExpired(by: 'server' | 'clock', written: boolean): RequestError {
  const why = by === 'server' ? 'the server ended it' : 'no server answered for its whole timeout';
  return new RequestError('SESSIONEXPIRED', `The ZooKeeper session is over: ${why}.`, {
    retryable: true,
    outcome: written ? 'unknown' : 'failed',
  });
}

export function tooLong(message: string): RequestError {
  return new RequestError('TOOLONG', message, { retryable: false, outcome: 'failed' });
}
