/**
 * The fence where the guarded data is in ZooKeeper.
 *
 * Invariant: a holder's write is carried out only if no holder has entered since it did. It holds
 * because each entry sets the fence's node, whose version is then that of the entry, and each write
 * is a `multi` that begins with a check of it. Entries follow each other in the order of their
 * tokens: each sets its decision only if the version is unchanged since it was read. So no older
 * holder can change the data that a holder reads after it has entered, in the same session, whose
 * server has then carried out all earlier writes.
 * A set whose reply is lost may have happened: the node is read again, and set again. Only a set
 * with a reply makes an entry; all earlier sets then fail, because their version has passed.
 * What would break it: a read before `enter`, or in another session without a `sync`; a write
 * without the check; data in other servers than the fence; and a fence's node that is deleted,
 * because the next one repeats the versions of the last.
 * Why this is not a check of the lock's own node: docs/design/0079-fences.md.
 */
import { Buffer } from 'node:buffer';
import { isLockError, UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import { show } from '../base/show.ts';
import {
  failedWith,
  RequestError,
  tooLate,
  unlessMissing,
  unlessThere,
} from '../clients/zookeeper/errors.ts';
import { checkPath, nodeName } from '../clients/zookeeper/paths.ts';
import type { NodeData, Stat, StepAnswer } from '../clients/zookeeper/wire/requests.ts';
import type {
  MultiStep,
  Within,
  ZookeeperSession,
} from '../clients/zookeeper/zookeeper-session.ts';
import type { FencingToken } from '../contract/token.ts';
import { type Fence, type FenceEntry, type FenceVerb, fenced, fenceOf } from './fence.ts';
import { enteredSince, over, raised, type SeenToken, seenIn, textOf } from './rule.ts';

export interface ZookeeperFenceOptions {
  /**
   * The parent of the nodes of all fences; default `/holdfast-fence`. It is made if it is missing.
   * Entering needs the permissions to create there, and to read and write the nodes that other
   * programs made, which have their session's `acl`; the check in a `multi` needs the one to read.
   */
  readonly path?: string;
}

/** The part of a session of `holdfast/zookeeper` that the fence uses. */
export type ZookeeperNodes = Pick<
  ZookeeperSession,
  'create' | 'getData' | 'multi' | 'now' | 'sync' | 'timeoutMs'
>;

/** A step of a `multi` that fails once another entry was made. */
export interface ZookeeperCheck {
  readonly step: 'check';
  readonly path: string;
  readonly version: number;
}

/**
 * `write` carries out all of these steps, or none. Replies and errors count these steps alone. A
 * reader's steps are checks. After an unknown outcome, `enter` anew.
 */
export interface ZookeeperEntry extends FenceEntry<readonly MultiStep[], readonly StepAnswer[]> {
  /**
   * The first step of each `multi` that writes the guarded data, also through another client. Empty
   * for a reader, which keeps older writers out and writes nothing.
   */
  readonly check: readonly ZookeeperCheck[];
  write(steps: readonly MultiStep[], within?: Within): Promise<readonly StepAnswer[]>;
}

/**
 * A fence in the ZooKeeper that holds the guarded data.
 *
 * @example
 * import { zookeeperFence } from 'holdfast/fence';
 *
 * const fence = zookeeperFence();
 * await locks.mutex('stock').run(async (lease) => {
 *   const entry = await fence.enter(session, lease);
 *   const left = Number(String((await session.getData('/stock')).data)) - 1;
 *   await entry.write([{ step: 'set', path: '/stock', data: Buffer.from(String(left)) }]);
 * });
 *
 * @throws UsageError
 */
export function zookeeperFence(
  options: ZookeeperFenceOptions = {},
): Fence<ZookeeperNodes, Promise<ZookeeperEntry>> {
  const { path = '/holdfast-fence' } = readOptions(options, ['path'], 'zookeeperFence');
  if (typeof path !== 'string' || path === '/' || /^\/zookeeper(\/|$)/.test(path)) {
    const instead = `not ${show(path)}: the root and /zookeeper belong to the servers.`;
    throw new UsageError(`path must name a node of your own, ${instead}`);
  }
  checkPath(path);
  return fenceOf(async (verb, session, lease) => {
    const token = fenced(lease);
    const place = { session, path: `${path}/${nodeName(token.resource)}` };
    return entryOf(place, token, await raise(place, verb, token));
  });
}

/** A fence's node, and the session that reads and writes it. */
interface FencedNode {
  readonly session: ZookeeperNodes;
  readonly path: string;
}

/** Settles within the session's timeout; returns the node's new version. */
async function raise(place: FencedNode, verb: FenceVerb, token: FencingToken): Promise<number> {
  const { session } = place;
  const { timeoutMs: allMs } = session;
  const deadline = session.now() + allMs;
  let trouble: unknown;
  for (;;) {
    const timeoutMs = deadline - session.now();
    if (timeoutMs <= 0) throw tooLate(allMs, true, trouble);
    try {
      const known = await read(place, { timeoutMs });
      const data = Buffer.from(textOf(raised(verb, token, () => known && seenAt(place, known))));
      if (known === undefined) return await create(place, { data, timeoutMs });
      return await set(place, { data, version: known.stat.version, timeoutMs });
    } catch (error) {
      // Another holder was faster, or the outcome is unknown.
      const raced = failedWith(error, 'BADVERSION') || failedWith(error, 'NODEEXISTS');
      if (!raced && !failedWith(error, 'CONNECTIONLOSS')) throw error;
      trouble = error;
    }
  }
}

/** The leader's data of the node; undefined if there is no node. */
async function read(place: FencedNode, within: Within = {}): Promise<NodeData | undefined> {
  const { session, path } = place;
  // The server carries them out in this order.
  const asked = Promise.all([session.sync(within), session.getData(path, within)]);
  return (await asked.catch(unlessMissing))?.[1];
}

interface Putting {
  readonly data?: Uint8Array;
  readonly timeoutMs: number;
}

async function create({ session, path }: FencedNode, putting: Putting): Promise<number> {
  try {
    return (await session.create(path, putting)).stat.version;
  } catch (error) {
    const above = path.slice(0, path.lastIndexOf('/'));
    if (!failedWith(error, 'NONODE') || above === '') throw error;
    await create({ session, path: above }, { timeoutMs: putting.timeoutMs }).catch(unlessThere);
  }
  return (await session.create(path, putting)).stat.version;
}

async function set(
  { session, path }: FencedNode,
  { data, version, timeoutMs }: Required<Putting> & { readonly version: number },
): Promise<number> {
  const once = { step: 'set', path, data, version } as const;
  // Versions wrap from the greatest number to the least. The version -1, which would come next,
  // means any version in a check: two sets at once skip it.
  const steps = version === -2 ? [once, { ...once, version: undefined }] : [once];
  const answers = await session.multi(steps, { timeoutMs });
  return (answers.at(-1) as Stat).version;
}

function entryOf(place: FencedNode, token: FencingToken, version: number): ZookeeperEntry {
  const { session, path } = place;
  const check = token.kind === 'read' ? [] : [{ step: 'check', path, version } as const];
  return {
    check,
    async write(steps, within) {
      if (token.kind === 'read' && steps.some(({ step }) => step !== 'check')) {
        throw new UsageError('A reader must not write.');
      }
      try {
        return (await session.multi([...check, ...steps], within)).slice(check.length);
      } catch (error) {
        if (check.length === 0 || !isRefusal(error)) throw error;
        const stale = failedWith(error, 'BADVERSION') || failedWith(error, 'NONODE');
        throw error.step === 0 && stale ? await refusal(place, token) : countedAnew(error);
      }
    },
  };
}

function isRefusal(error: unknown): error is RequestError & { readonly step: number } {
  return isLockError(error, 'STORE') && (error as Partial<RequestError>).step !== undefined;
}

/** The error with the caller's own count of steps, without the check. */
function countedAnew(error: RequestError & { readonly step: number }): Error {
  const { reason, message, retryable, outcome } = error;
  const step = error.step === 0 ? undefined : error.step - 1;
  return new RequestError(reason, message, { retryable, outcome, step });
}

async function refusal(place: FencedNode, mine: FencingToken): Promise<Error> {
  let known: NodeData | undefined;
  try {
    known = await read(place);
  } catch {
    return over(mine);
  }
  if (known) return enteredSince(mine, seenAt(place, known));
  return over(mine, 0n, 'The node of the fence was deleted.');
}

function seenAt({ path }: FencedNode, { data }: NodeData): SeenToken {
  return seenIn(data.toString(), `The node ${show(path)}`);
}
