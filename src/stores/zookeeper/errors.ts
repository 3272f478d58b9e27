/**
 * What ZooKeeper's error codes and broken connections mean for a lock.
 *
 * A server's refusal is a reply: the request has not happened. If the connection ends or a deadline
 * passes, a request that was written may have happened; one that was never written has failed. No
 * message repeats data or credentials; paths are names, not secrets.
 */
import { isLockError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import { copyOf, describe } from '../causes.ts';

/**
 * Why a request failed, by ZooKeeper's own names; three are this client's: `GARBAGE`, the reply is
 * unreadable; `TOOLONG`, the request exceeds the servers' limit, or its reply this client's;
 * `UNKNOWN`, a number that it does not know.
 */
export type Reason =
  | 'SYSTEMERROR'
  | 'RUNTIMEINCONSISTENCY'
  | 'DATAINCONSISTENCY'
  | 'CONNECTIONLOSS'
  | 'MARSHALLINGERROR'
  | 'UNIMPLEMENTED'
  | 'OPERATIONTIMEOUT'
  | 'BADARGUMENTS'
  | 'APIERROR'
  | 'NONODE'
  | 'NOAUTH'
  | 'BADVERSION'
  | 'NOCHILDRENFOREPHEMERALS'
  | 'NODEEXISTS'
  | 'NOTEMPTY'
  | 'SESSIONEXPIRED'
  | 'INVALIDACL'
  | 'AUTHFAILED'
  | 'SESSIONMOVED'
  | 'NOTREADONLY'
  | 'REQUESTTIMEOUT'
  | 'QUOTAEXCEEDED'
  | 'THROTTLEDOP'
  | 'GARBAGE'
  | 'TOOLONG'
  | 'UNKNOWN';

interface Meaning {
  readonly reason: Reason;
  readonly retryable: boolean;
  readonly advice: string;
  /** Default: it has not happened. */
  readonly outcome?: 'unknown';
}

const LATER = true;
const NEVER = false;

/** By the number in the reply. */
const REFUSALS: Readonly<Record<number, Meaning>> = {
  [-1]: maybe('SYSTEMERROR', LATER, 'failed inside. Look at its log'),
  [-2]: meaning('RUNTIMEINCONSISTENCY', LATER, 'did nothing: a step before this one failed'),
  [-3]: maybe('DATAINCONSISTENCY', NEVER, 'found its data inconsistent. Look at its log'),
  [-4]: maybe('CONNECTIONLOSS', LATER, 'lost the connection to its leader'),
  [-5]: meaning('MARSHALLINGERROR', NEVER, 'could not read the request'),
  [-6]: meaning('UNIMPLEMENTED', NEVER, 'does not know this request: 3.6 or newer is needed'),
  [-7]: maybe('OPERATIONTIMEOUT', LATER, 'took too long'),
  [-8]: meaning('BADARGUMENTS', NEVER, 'does not take these arguments'),
  [-100]: meaning('APIERROR', NEVER, 'does not take this request'),
  [-101]: meaning('NONODE', LATER, 'has no such node'),
  [-102]: meaning('NOAUTH', NEVER, 'does not permit that. Check auth and the ACL of the node'),
  [-103]: meaning('BADVERSION', LATER, 'has another version of the node'),
  [-108]: meaning('NOCHILDRENFOREPHEMERALS', NEVER, 'does not let an ephemeral node have children'),
  [-110]: meaning('NODEEXISTS', LATER, 'has that node already'),
  [-111]: meaning('NOTEMPTY', LATER, 'does not delete a node that has children'),
  [-112]: meaning('SESSIONEXPIRED', LATER, 'has ended the session'),
  [-114]: meaning('INVALIDACL', NEVER, 'does not take this ACL. Check auth and acl'),
  [-115]: meaning('AUTHFAILED', NEVER, 'does not take these credentials'),
  [-118]: meaning('SESSIONMOVED', LATER, 'has seen the session move to another server'),
  [-119]: meaning('NOTREADONLY', LATER, 'is cut off from the others, and read-only'),
  [-122]: maybe('REQUESTTIMEOUT', LATER, 'took too long'),
  [-125]: meaning('QUOTAEXCEEDED', NEVER, 'has a quota on this path, which is used up'),
  [-127]: meaning('THROTTLEDOP', LATER, 'has too much to do'),
};

const UNKNOWN = maybe('UNKNOWN', NEVER, 'refused, for a reason that is not known here');

interface FailureOptions {
  readonly retryable: boolean;
  readonly outcome: 'failed' | 'unknown';
  readonly cause?: unknown;
  /** Of a `multi`: which of its steps was refused. */
  readonly step?: number | undefined;
}

/** A request to ZooKeeper failed. */
export class RequestError extends StoreError {
  readonly reason: Reason;
  /** Of a `multi`: which of its steps was refused, from 0 on. */
  readonly step: number | undefined;

  constructor(reason: Reason, message: string, { step, ...options }: FailureOptions) {
    super(message, options);
    this.reason = reason;
    this.step = step;
  }
}

/** Whether a request failed for this reason. */
export function failedWith(error: unknown, reason: Reason): error is RequestError {
  return isLockError(error, 'STORE') && (error as Partial<RequestError>).reason === reason;
}

/** A server's refusal. `about` is the path of the request. */
export function refused(code: number, about: string, step?: number): RequestError {
  const { reason, retryable, advice, outcome } = REFUSALS[code] ?? UNKNOWN;
  const where = about === '' ? '' : ` at ${JSON.stringify(about)}`;
  const text = `The ZooKeeper server ${advice} (${reason} ${code}${where}).`;
  return new RequestError(reason, text, {
    retryable,
    outcome: outcome ?? 'failed',
    step,
  });
}

/** The connection ended, or there was none in time. */
export function connectionLoss(why: unknown, written: boolean): RequestError {
  const said = describe(why);
  const garbage = why instanceof Error && why.name === 'GarbageError';
  const wrongTls = /ERR_SSL|ERR_TLS|CERT|certificate|self.signed|wrong version|EPROTO/i.test(said);
  const advice = wrongTls ? '. Check tls, the port and the certificates' : '';
  return new RequestError(
    garbage ? 'GARBAGE' : 'CONNECTIONLOSS',
    `No connection to a ZooKeeper server: ${said}${advice}.`,
    {
      cause: copyOf(why instanceof Error ? why.name : 'Error', said),
      retryable: written || !wrongTls,
      outcome: written ? 'unknown' : 'failed',
    },
  );
}

/** The deadline passed; `why` is the last trouble with the connection. */
export function tooLate(ms: number, written: boolean, why: unknown): RequestError {
  const also = why === undefined ? '' : `; before that: ${describe(why)}`;
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

/** The session is over. */
export function sessionExpired(by: 'server' | 'clock', written: boolean): RequestError {
  const why = by === 'server' ? 'the server ended it' : 'no server answered for its whole timeout';
  return new RequestError('SESSIONEXPIRED', `The ZooKeeper session is over: ${why}.`, {
    retryable: true,
    outcome: written ? 'unknown' : 'failed',
  });
}

/** More than servers accept (`jute.maxbuffer`). */
export function tooLong(bytes: number, max: number): RequestError {
  const text = `The request has ${bytes} bytes; ZooKeeper takes at most ${max} (jute.maxbuffer).`;
  return new RequestError('TOOLONG', text, { retryable: false, outcome: 'failed' });
}

/** The reply exceeds this client's limit. */
export function answerTooLong(answer: {
  readonly bytes: number;
  readonly max: number;
  readonly about: string;
}): RequestError {
  const { bytes, max, about } = answer;
  const text = `The answer about ${JSON.stringify(about)} has ${bytes} bytes; the limit is ${max}.`;
  return new RequestError('TOOLONG', text, { retryable: false, outcome: 'failed' });
}

function meaning(reason: Reason, retryable: boolean, advice: string): Meaning {
  return { reason, retryable, advice };
}

function maybe(reason: Reason, retryable: boolean, advice: string): Meaning {
  return { reason, retryable, advice, outcome: 'unknown' };
}
