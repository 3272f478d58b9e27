/**
 * Makes a sequential node once, although replies get lost.
 *
 * Its name carries an id of the caller's. When the outcome of a create is unknown, the client looks
 * for that id among the parent's children, and takes the node if it is there, or makes it again if
 * it is not. Looking proves absence because nothing sent before can be carried out after it: over
 * the same server, requests are in order, and a session's old connection is closed before it is
 * served over a new one; when another server takes the session over, the leader refuses what still
 * comes from the one before; and the `sync` before the look makes the server catch up with all that
 * the leader has decided. A node of the same id that belongs to an earlier session of the caller
 * will end with it, at an unknown time: it is deleted.
 * The name is Curator's, `_c_<id>-<name>`, so that its programs find the queue as they expect it.
 */
import { isLockError } from '../../base/errors.ts';
import type { StoreError } from '../../contract/errors.ts';
import type { Acl } from './address.ts';
import { failedWith, RequestError, tooLate, unlessMissing } from './errors.ts';
import type { SessionState } from './session/session.ts';
import type { Created, NodeChildren, NodeKind, Stat } from './wire/requests.ts';

export interface Within {
  /** How long the reply may take, in ms. Default: the session's timeout. */
  readonly timeoutMs?: number | undefined;
}

export interface Making extends Within {
  /** Default: none. */
  readonly data?: Uint8Array | undefined;
  /** Default: `persistent`; of a protected one, `ephemeral-sequential`. */
  readonly kind?: NodeKind | undefined;
  /** Default: that of the client. */
  readonly acl?: readonly Acl[] | undefined;
}

/** The time is for all attempts together. */
export interface ProtectedTerms extends Making {
  /** The parent of the node. It must be there. */
  readonly parent: string;
  /** How its name ends, before the number that the server adds. */
  readonly name: string;
  /** In the form of a UUID, unique to this node; the same for each attempt. */
  readonly id: string;
  /** An earlier attempt may have happened: looks before it makes anything. Default: false. */
  readonly tried?: boolean | undefined;
}

/** What it needs of a session. */
export interface ProtectedSession {
  readonly id: bigint;
  readonly state: SessionState;
  readonly timeoutMs: number;
  create(path: string, making: Making): Promise<Created>;
  delete(path: string, within: Within): Promise<void>;
  exists(path: string, within: Within): Promise<Stat | undefined>;
  getChildren(path: string, within: Within): Promise<NodeChildren>;
  sync(within: Within): Promise<void>;
  now(): number;
}

export async function createProtected(
  session: ProtectedSession,
  terms: ProtectedTerms,
): Promise<Created> {
  const { parent, name, id, data, acl, kind = 'ephemeral-sequential' } = terms;
  const allMs = terms.timeoutMs ?? session.timeoutMs;
  const deadline = session.now() + allMs;
  const path = `${parent === '/' ? '' : parent}/${protectedName(id, name)}`;
  let unsure = terms.tried === true;
  let trouble: unknown;
  for (;;) {
    const timeoutMs = deadline - session.now();
    if (timeoutMs <= 0) throw tooLate(allMs, unsure, trouble);
    try {
      const found = unsure ? await findProtected(session, { ...terms, timeoutMs }) : undefined;
      if (found) return found;
      unsure = false;
      return await session.create(path, { data, acl, kind, timeoutMs });
    } catch (error) {
      // A failed look leaves the outcome unknown.
      unsure ||= isUnknown(error);
      if (!mayAskAgain(error, session)) throw unsure ? unknown(error) : error;
      trouble = error;
    }
  }
}

/**
 * The node of this id, if there is one; one of another session is deleted.
 * @throws RequestError
 */
export async function findProtected(
  session: ProtectedSession,
  terms: Pick<ProtectedTerms, 'parent' | 'id'> & Within,
): Promise<Created | undefined> {
  const { parent, id, timeoutMs } = terms;
  await session.sync({ timeoutMs });
  const { children } = await session.getChildren(parent, { timeoutMs });
  let own: Created | undefined;
  for (const child of children) {
    if (!child.startsWith(protectedName(id, ''))) continue;
    const path = `${parent === '/' ? '' : parent}/${child}`;
    const stat = await session.exists(path, { timeoutMs });
    if (stat === undefined) continue;
    const ours = stat.session === 0n || stat.session === session.id;
    if (ours && own === undefined) own = { path, stat };
    else await session.delete(path, { timeoutMs }).catch(unlessMissing);
  }
  return own;
}

export function protectedName(id: string, name: string): string {
  return `_c_${id}-${name}`;
}

function isUnknown(error: unknown): boolean {
  return isLockError(error, 'STORE') && (error as StoreError).outcome === 'unknown';
}

/** A refused look says nothing of the earlier create, unless the parent is missing. */
function unknown(error: unknown): unknown {
  if (!isLockError(error, 'STORE') || failedWith(error, 'NONODE')) return error;
  const { reason, message, retryable, cause } = error as RequestError;
  return new RequestError(reason, message, { retryable, cause, outcome: 'unknown' });
}

/** Only after a broken connection or a timeout: a refusal is a reply. */
function mayAskAgain(error: unknown, session: ProtectedSession): error is RequestError {
  const over = session.state === 'expired' || session.state === 'closed';
  return !over && (failedWith(error, 'CONNECTIONLOSS') || failedWith(error, 'OPERATIONTIMEOUT'));
}
