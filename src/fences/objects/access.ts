/** What a service of objects must offer, and the meaning of its replies. */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';

/** Text under a key, and the service's name for this version. */
export interface StoredObject {
  readonly text: string;
  readonly etag: string;
}

/** A write that is carried out only if its condition holds; it has one of the two. */
export interface ConditionalPut {
  readonly key: string;
  readonly text: string;
  /** The object must have this ETag. */
  readonly ifMatch?: string;
  /** No object may exist. */
  readonly ifNoneMatch?: '*';
}

/**
 * The part of a service that the fence uses. Its functions may throw a client's errors: the fence
 * looks for the HTTP status in `status`, `statusCode`, `code`, `$metadata.httpStatusCode`, and
 * `response.status` or `response.statusCode`.
 */
export interface ObjectAccess {
  /** The current object, from no cache; undefined, or a throw with status 404, if there is none. */
  get(key: string): Promise<StoredObject | undefined>;
  /**
   * The new ETag, or undefined where the service returns none. Throws with status 412 if the
   * condition does not hold.
   */
  put(put: ConditionalPut): Promise<string | undefined>;
}

/** @throws UsageError */
export function checkAccess(objects: ObjectAccess): void {
  if (typeof objects?.get === 'function' && typeof objects.put === 'function') return;
  throw new UsageError(`A fence takes objects with get and put, not ${show(objects)}.`);
}

/**
 * The outcome of a request. `refused`: the condition does not hold. `missing`: there is no object.
 * `later`: not carried out, but may be when sent again. `never`: nor will it be. `unsupported`: the
 * service knows no such requests.
 */
export type Fate = 'refused' | 'missing' | 'later' | 'never' | 'unsupported' | 'unknown';

const FATES: Readonly<Record<number, Fate>> = {
  404: 'missing',
  410: 'missing',
  412: 'refused',
  // S3: another request for this object was under way. Too many requests.
  409: 'later',
  429: 'later',
  // Also from services that know the request, but not its condition.
  501: 'unsupported',
  // Too slow: it may have been carried out.
  408: 'unknown',
};

export function fateOf(error: unknown): Fate {
  const status = statusOf(error);
  return FATES[status] ?? (status >= 400 && status < 500 ? 'never' : 'unknown');
}

/** Clients also keep other values under these names: text, or numbers of their own. */
function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null) return Number.NaN;
  const { status, statusCode, code, $metadata, response } = error as Record<string, unknown>;
  const { httpStatusCode } = ($metadata ?? {}) as Record<string, unknown>;
  const answered = (response ?? {}) as Record<string, unknown>;
  const all = [status, statusCode, code, httpStatusCode, answered.status, answered.statusCode];
  return all.map(numberIn).find((one) => one >= 100 && one < 600) ?? Number.NaN;
}

function numberIn(value: unknown): number {
  return typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
}
