/**
 * Work that is done once for each key, across processes and crashes.
 *
 * Invariant: for as long as its record is kept, at most one attempt at a key is reported as a
 * success. It holds because an attempt runs under the key's own mutex, looks for the record before
 * it begins, and succeeds by writing it: the store does so only while the claim is held, in one
 * step. So of two attempts that overlap, because a process stalled, one cannot write, and rejects
 * with `LeaseLostError`. A failure and a crash leave no record; the mutex frees the key.
 * No lock can promise how often the work has effects elsewhere: an attempt that was cut short, or
 * whose record could not be written, may have had them all. Pass other systems the key, which is
 * the same at each attempt, and the token, which distinguishes attempts.
 * What would break it: a record that is written although the claim is gone; a store that loses
 * records.
 */
import { Buffer } from 'node:buffer';
import { type Duration, millisecondsOf } from '../../base/duration.ts';
import { isLockError, type LockError, UsageError } from '../../base/errors.ts';
import { type Checked, checkOptions, flag, oneOf } from '../../base/options.ts';
import { show, withJson } from '../../base/show.ts';
import { StoreError, toStoreError } from '../../contract/errors.ts';
import { type Holder, MAX_KEPT_MS } from '../../contract/store.ts';
import { ACQUISITION, type AcquireOptions } from '../../core/acquire-options.ts';
import { LeaseLostError } from '../../core/errors.ts';
import type { Lease } from '../../core/lease.ts';
import type { Locks } from '../../locks.ts';
import type { Lock } from '../../primitives/lock.ts';
import { LOCK, type LockOptions } from '../../primitives/lock-options.ts';
import type { Work } from '../../primitives/lockable.ts';
import type { Waiting } from '../../store-calls/waiting.ts';
import { checkKey, keepSurely, keyLock, recall } from '../records.ts';

export interface OnceOptions
  extends Pick<AcquireOptions, 'wait' | 'signal' | 'label'>,
    Pick<LockOptions, 'ttl' | 'maxHold'> {
  /**
   * How long the record of the work is kept, counted from its end: at most ten years. A number
   * counts ms; one below 1000 is refused, since most mean another unit by it: write `'500ms'`.
   */
  readonly keepFor: Duration;
  /**
   * While another attempt runs: `wait` for it (default), and try if it fails; or `skip`, and return
   * `running`.
   */
  readonly ifRunning?: 'wait' | 'skip';
  /**
   * Also keeps the result of the work, as JSON of at most 8,192 bytes, for later callers; default
   * false. All callers, the first included, get the value parsed from that JSON.
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
  /** The result of the work; undefined if the attempt that did it kept none. */
  readonly value: T;
  /** The process that did it, for people. */
  readonly by: Holder;
  /** The token of its lease. */
  readonly token: bigint;
  /** How much longer the record is kept. */
  readonly leftMs: number;
}

/** The work is being done elsewhere. */
export interface Running extends Waiting {
  readonly state: 'running';
}

/** The result of `once`: `running` only with `ifRunning: 'skip'`. */
export type OnceResult<T, O extends OnceOptions> =
  | Ran<O extends { readonly keepResult: true } ? FromJson<T> : T>
  | Done<FromJson<T> | undefined>
  | ('ifRunning' extends keyof O ? ('skip' extends O['ifRunning'] ? Running : never) : never);

/**
 * What is left of a value that was written as JSON: a `Date` is a string, a `Map` is an empty
 * object, and functions are gone.
 */
export type FromJson<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends { toJSON(): infer J }
      ? FromJson<J>
      : T extends bigint | symbol | ((...given: never[]) => unknown)
        ? never
        : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
          ? Record<string, never>
          : T extends readonly unknown[]
            ? { [K in keyof T]: FromJson<T[K]> }
            : T extends object
              ? { [K in keyof T as FromJson<T[K]> extends never ? never : K]: FromJson<T[K]> }
              : T;

/** Longest result, in bytes of JSON: half of a record, because the rest names the process. */
const MAX_RESULT_BYTES = 8192;

/** A longer label is cut. */
const MAX_LABEL = 256;

const ONCE = {
  keepFor: (given: Duration, name: string): number => {
    if (given === undefined) {
      throw new UsageError(
        "once needs keepFor: how long to remember that the work is done, such as '1d'.",
      );
    }
    const ms = millisecondsOf(given, name);
    if (ms === 0) throw new UsageError('keepFor must be more than 0.');
    if (typeof given === 'number' && ms < 1_000) {
      // A caller that writes 7 hardly means that.
      const meant = `Write the unit: '${given}d' for days, or '${given}ms'`;
      throw new UsageError(`keepFor: ${given} is ${ms} ms, as a number has no unit. ${meant}.`);
    }
    if (ms <= MAX_KEPT_MS) return ms;
    throw new UsageError(`keepFor is longer than ten years, 3660d: ${show(given)}.`);
  },
  ifRunning: oneOf('wait', 'skip'),
  keepResult: flag(),
  ...ACQUISITION,
  ttl: LOCK.ttl,
  maxHold: LOCK.maxHold,
};

/**
 * Does the work unless it has been done: at most once successfully for each key, across processes
 * and crashes, for as long as the record is kept. A failure frees the key at once, a crash with the
 * TTL. An attempt that was cut short may still have had effects elsewhere: pass other systems the
 * key, and the lease's token, which distinguishes attempts.
 *
 * @example
 * import { once } from 'holdfast/once';
 *
 * const key = `ship:${order.id}`;
 * const { state } = await once(locks, key, { keepFor: '7d' }, () => ship(order));
 *
 * @throws UsageError synchronously; as rejections the errors of the work and of a mutex's `run`,
 *   UnsupportedError if the store keeps no records, and UsageError if the work is done and its
 *   result cannot be kept. LeaseLostError and StoreError say if the work is done but may not
 *   be on record.
 */
export function once<T, const O extends OnceOptions>(
  locks: Locks,
  key: string,
  options: O,
  work: Work<Lease, T>,
): Promise<OnceResult<T, O>> {
  const { ttl, maxHold, ...terms } = checkOptions<OnceOptions, typeof ONCE>(options, ONCE, 'once');
  if (typeof work !== 'function') throw new UsageError('The last argument must be a function.');
  const lock = keyLock(locks, `once:${checkKey(key)}`, { ttl, maxHold });
  return doOnce<T>(lock, terms, work) as Promise<OnceResult<T, O>>;
}

async function doOnce<T>(
  lock: Lock,
  { keepFor: ms, ifRunning, keepResult, ...acquire }: Omit<Checked<typeof ONCE>, 'ttl' | 'maxHold'>,
  work: Work<Lease, T>,
): Promise<Ran<T> | Done<T | undefined> | Running> {
  lock.engine.checkOpen();
  const known = await doneBefore<T>(lock);
  if (known) return known;
  let answer: Ran<T> | Done<T | undefined> | undefined;
  let problem: LockError | undefined;
  const attempt = async (lease: Lease): Promise<Ran<T> | Done<T | undefined>> => {
    answer = await doneBefore<T>(lock);
    if (answer) return answer;
    lease.stays = true;
    const value = await work(lease);
    const { note, kept, unfit } = noteOf(lease, { value, keepResult });
    problem = unfit;
    await keepSurely(lease, { note, ms }).catch((error: unknown) => {
      problem = unrecorded(lease, error);
    });
    if (problem) throw problem;
    answer = { state: 'ran', value: kept };
    return answer;
  };
  try {
    if (ifRunning === 'wait') return await lock.run(acquire, attempt);
    const { wait: _, ...tries } = acquire;
    const tried = await lock.tryRun(tries, attempt);
    if (tried.acquired) return tried.value;
    const meanwhile = await doneBefore<T>(lock);
    const { acquired: __, ...waiting } = tried;
    return meanwhile ?? { state: 'running', ...waiting };
  } catch (error) {
    // The record decides, not a later loss of the lease.
    if (answer) return answer;
    throw problem ?? error;
  }
}

/** The work was done, but later callers may not learn of it. */
function unrecorded({ resource, loss }: Lease, error: unknown): LockError {
  const lost = loss ?? (isLockError(error, 'LEASE_LOST') ? (error as LeaseLostError) : undefined);
  if (lost) {
    const what = 'the work is done, but may not be on record';
    const detail = lost.detail === undefined ? what : `${lost.detail}; ${what}`;
    const cause = error === lost ? lost.cause : error;
    return new LeaseLostError(resource, lost.reason, { detail, cause });
  }
  const { message, outcome } = toStoreError(error);
  const why = `The work is done, but may not be on record: ${message}`;
  return new StoreError(why, { resource, retryable: false, outcome, cause: error });
}

/** The record of done work. */
interface OnceNote {
  readonly by: Holder;
  readonly token: string;
  readonly result?: unknown;
}

async function doneBefore<T>({ engine, resource }: Lock): Promise<Done<T | undefined> | undefined> {
  const found = await recall<OnceNote>(engine, resource);
  if (!found) return undefined;
  const { by, token, result } = found.note;
  const done = { value: result as T, by, token: BigInt(token), leftMs: found.leftMs };
  return withJson<Done<T | undefined>>({ state: 'done', ...done });
}

/** Always makes a record, without the result if it cannot be kept: repeating the work is worse. */
function noteOf<T>(
  lease: Lease,
  { value, keepResult }: { readonly value: T; readonly keepResult: boolean },
): { readonly note: OnceNote; readonly kept: T; readonly unfit?: UsageError } {
  const { label, ...who } = lease.live.claim.holder;
  const by: Holder = label === undefined ? who : { ...who, label: label.slice(0, MAX_LABEL) };
  const bare: OnceNote = { by, token: String(lease.token) };
  if (!keepResult || value === undefined) return { note: bare, kept: value };
  const without = (why: string, cause?: unknown): ReturnType<typeof noteOf<T>> => {
    const message = `The work is done and on record, but its result cannot be kept: ${why}.`;
    const unfit = new UsageError(message, { resource: lease.resource, cause });
    return { note: bare, kept: value, unfit };
  };
  try {
    const result = JSON.stringify(value) as string | undefined;
    if (result === undefined) return without(`JSON cannot represent ${show(value)}`);
    const bytes = Buffer.byteLength(result);
    if (bytes > MAX_RESULT_BYTES) {
      return without(`it has ${bytes} bytes of JSON; at most ${MAX_RESULT_BYTES} are allowed`);
    }
    const kept = JSON.parse(result) as T;
    return { note: { ...bare, result: kept }, kept };
  } catch (cause) {
    return without('it cannot be written as JSON', cause);
  }
}
