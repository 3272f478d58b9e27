/**
 * Work that is done once for each key, across processes and crashes.
 *
 * Invariant: for as long as its record is kept, at most one attempt at a key is reported as a
 * success. It holds because an attempt runs under the key's own mutex, looks for the record before
 * it begins, and succeeds by writing it: the store does so only while the claim is held, in one
 * step. So of two attempts that overlap, because a process stalled, one cannot write, and rejects
 * with `LeaseLostError`. A failure and a crash leave no record; the mutex frees the key.
 * What no lock can promise is how often the work has effects elsewhere: an attempt that was cut
 * short, or whose record could not be written, may have had them all. Whoever is told of them
 * needs the key, which is the same at each attempt, and the token, which tells attempts apart.
 * What would break it: a record that is written although the claim is gone; a store that loses what
 * it keeps.
 */
import { Buffer } from 'node:buffer';
import { type Duration, millisecondsOf } from '../../base/duration.ts';
import { isLockError, type LockError, UsageError } from '../../base/errors.ts';
import { readOptions } from '../../base/options.ts';
import { show } from '../../base/show.ts';
import { StoreError, toStoreError } from '../../contract/errors.ts';
import { MAX_KEPT_MS } from '../../contract/records.ts';
import type { Holder, Member } from '../../contract/store.ts';
import type { Engine } from '../../core/engine.ts';
import { LeaseLostError } from '../../core/errors.ts';
import type { Lease } from '../../core/lease.ts';
import type { AcquireOptions } from '../../core/waiter.ts';
import { engineOf, type Locks } from '../../locks.ts';
import type { Lock } from '../../primitives/lock.ts';
import type { LockOptions } from '../../primitives/lock-options.ts';
import type { Work } from '../../primitives/lockable.ts';
import { checkKey, keyLock } from '../key-lock.ts';
import { keepSurely, recall } from '../records.ts';

export interface OnceOptions
  extends Pick<AcquireOptions, 'wait' | 'signal' | 'label'>,
    Pick<LockOptions, 'ttl' | 'maxHold'> {
  /** How long it is known that the work is done, counted from when it was; at most ten years. */
  readonly keepFor: Duration;
  /**
   * While another attempt runs: `wait` for it (default), and try if it fails; or `skip`, and be
   * told that it runs.
   */
  readonly ifRunning?: 'wait' | 'skip';
  /**
   * Also keeps what the work answered, as JSON of at most 8,192 bytes, for those who ask later;
   * default false. Everybody gets what JSON makes of it, the first one too.
   */
  readonly keepResult?: boolean;
}

/** The work was done here and now. */
export interface Ran<T> {
  readonly state: 'ran';
  readonly value: T;
}

/** The work had been done before. */
export interface Done<T> {
  readonly state: 'done';
  /** What it answered, if that was kept. */
  readonly value: T;
  /** Who did it, for people. */
  readonly by: Holder;
  /** Of the lease under which it was done. */
  readonly token: bigint;
  /** For how much longer this is known. */
  readonly leftMs: number;
}

/** The work is being done elsewhere. */
export interface Running {
  readonly state: 'running';
  readonly holders: readonly Member[];
}

/** What `once` answers: `running` only with `ifRunning: 'skip'`. */
export type OnceResult<T, O extends OnceOptions> =
  | Ran<T>
  | Done<O extends { readonly keepResult: true } ? T : T | undefined>
  | ('ifRunning' extends keyof O ? ('skip' extends O['ifRunning'] ? Running : never) : never);

const ONCE_OPTIONS = [
  ...['keepFor', 'ifRunning', 'keepResult', 'wait', 'signal', 'label', 'ttl', 'maxHold'],
];

/** Longest result, in bytes of JSON: half of what a store has to keep, for the rest tells who. */
const MAX_RESULT_BYTES = 8192;

/** A longer label is cut. */
const MAX_LABEL = 256;

interface OnceTerms {
  readonly keepForMs: number;
  readonly skip: boolean;
  readonly keepResult: boolean;
  readonly acquire: AcquireOptions;
}

/** @throws UsageError */
function readOnce(options: OnceOptions): OnceTerms {
  const { keepFor, ifRunning = 'wait', keepResult = false, wait, signal, label } = options;
  if (keepFor === undefined) {
    throw new UsageError("once needs keepFor: how long to know that it is done, such as '1d'.");
  }
  const keepForMs = millisecondsOf(keepFor, 'keepFor');
  if (keepForMs === 0) throw new UsageError('keepFor must be more than 0.');
  if (keepForMs > MAX_KEPT_MS) {
    throw new UsageError(`keepFor is longer than ten years, 3660d: ${show(keepFor)}.`);
  }
  if (ifRunning !== 'wait' && ifRunning !== 'skip') {
    throw new UsageError(`ifRunning must be 'wait' or 'skip', not ${show(ifRunning)}.`);
  }
  if (typeof keepResult !== 'boolean') throw new UsageError('keepResult must be true or false.');
  const acquire = {
    ...(wait !== undefined && { wait }),
    ...(signal !== undefined && { signal }),
    ...(label !== undefined && { label }),
  };
  return { keepForMs, skip: ifRunning === 'skip', keepResult, acquire };
}

/**
 * Does the work unless it has been done: at most once successfully for each key, across processes
 * and crashes, for as long as that is known. A failure frees the key at once, a crash with the
 * TTL. It cannot promise that an attempt that was cut short had no effects elsewhere: give those
 * the key, and the lease's token, to tell attempts apart.
 *
 * @example
 * import { once } from 'holdfast/once';
 *
 * const options = { keepFor: '7d' };
 * const { state } = await once(locks, `ship:${order.id}`, options, () => ship(order));
 *
 * @throws UsageError synchronously; as rejections what the work throws and what `run` of a mutex
 *   does, UnsupportedError if the store keeps no records, and UsageError if the work is done and
 *   its result cannot be kept. LeaseLostError and StoreError say if the work is done but may not
 *   be on record.
 */
export function once<T, const O extends OnceOptions>(
  locks: Locks,
  key: string,
  options: O,
  work: Work<Lease, T>,
): Promise<OnceResult<T, O>> {
  const engine = engineOf(locks);
  const { ttl, maxHold, ...rest } = readOptions<OnceOptions>(options, ONCE_OPTIONS, 'once');
  const terms = readOnce(rest);
  if (typeof work !== 'function') throw new UsageError('The last argument must be a function.');
  const lock = keyLock(locks, `once:${checkKey(key)}`, { ttl, maxHold });
  lock.read(terms.acquire);
  return doOnce<T>({ engine, lock, terms }, work) as Promise<OnceResult<T, O>>;
}

async function doOnce<T>(
  { engine, lock, terms }: { readonly engine: Engine; readonly lock: Lock; terms: OnceTerms },
  work: Work<Lease, T>,
): Promise<Ran<T> | Done<T | undefined> | Running> {
  engine.checkOpen();
  const known = await doneBefore<T>(engine, lock.resource);
  if (known) return known;
  let answer: Ran<T> | Done<T | undefined> | undefined;
  let problem: LockError | undefined;
  const attempt = async (lease: Lease): Promise<Ran<T> | Done<T | undefined>> => {
    answer = await doneBefore<T>(engine, lock.resource);
    if (answer) return answer;
    const value = await work(lease);
    const { note, kept, unfit } = noteOf(lease, { value, keepResult: terms.keepResult });
    problem = unfit;
    await keepSurely(engine, lease, { note, ms: terms.keepForMs }).catch((error: unknown) => {
      problem = unrecorded(lease, error);
    });
    if (problem) throw problem;
    answer = { state: 'ran', value: kept };
    return answer;
  };
  try {
    if (!terms.skip) return await lock.run(terms.acquire, attempt);
    const tried = await lock.tryRun(terms.acquire, attempt);
    if (tried.acquired) return tried.value;
    const meanwhile = await doneBefore<T>(engine, lock.resource);
    return meanwhile ?? { state: 'running', holders: tried.holders };
  } catch (error) {
    // What is on record, or is not, is so whatever became of the lease then.
    if (answer) return answer;
    throw problem ?? error;
  }
}

/** The work was done, and whoever asks later may not be told so. */
function unrecorded({ resource, loss }: Lease, error: unknown): LockError {
  const lost = loss ?? (isLockError(error, 'LEASE_LOST') ? (error as LeaseLostError) : undefined);
  if (lost) {
    const what = 'the work is done, but may not be on record';
    const detail = lost.detail === undefined ? what : `${lost.detail}; ${what}`;
    const cause = error === lost ? undefined : error;
    return new LeaseLostError(resource, lost.reason, { detail, cause });
  }
  const { message, outcome } = toStoreError(error);
  const why = `The work is done, but may not be on record: ${message}`;
  return new StoreError(why, { resource, retryable: false, outcome, cause: error });
}

/** What is kept. */
interface Note {
  readonly by: Holder;
  readonly token: string;
  readonly result?: unknown;
}

async function doneBefore<T>(
  engine: Engine,
  resource: string,
): Promise<Done<T | undefined> | undefined> {
  const found = await recall<Note>(engine, resource);
  if (!found) return undefined;
  const { by, token, result } = found.note;
  return { state: 'done', value: result as T, by, token: BigInt(token), leftMs: found.leftMs };
}

/**
 * The work is done, so a record there must be, with a result or without: to do it again because its
 * result cannot be kept would be the greater harm.
 */
function noteOf<T>(
  lease: Lease,
  { value, keepResult }: { readonly value: T; readonly keepResult: boolean },
): { readonly note: Note; readonly kept: T; readonly unfit?: UsageError } {
  const { label, ...who } = lease.live.claim.holder;
  const by: Holder = label === undefined ? who : { ...who, label: label.slice(0, MAX_LABEL) };
  const bare: Note = { by, token: String(lease.token) };
  if (!keepResult || value === undefined) return { note: bare, kept: value };
  const { resource } = lease;
  const without = (why: string, cause?: unknown): ReturnType<typeof noteOf<T>> => {
    const message = `The work is done, and so recorded, but its result cannot be kept: ${why}.`;
    const unfit = new UsageError(message, { resource, cause });
    return { note: bare, kept: value, unfit };
  };
  try {
    const result = JSON.stringify(value) as string | undefined;
    if (result === undefined) return without(`JSON has nothing for ${show(value)}`);
    const bytes = Buffer.byteLength(result);
    if (bytes > MAX_RESULT_BYTES) {
      return without(`it has ${bytes} bytes of JSON; at most ${MAX_RESULT_BYTES} are allowed`);
    }
    const kept = JSON.parse(result) as T;
    return { note: { ...bare, result: kept }, kept };
  } catch (cause) {
    return without('it is no JSON', cause);
  }
}
