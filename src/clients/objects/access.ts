/** What a service of objects must offer. */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';

/** Text under a key, and the service's name for this version. */
export interface StoredObject {
  readonly text: string;
  readonly etag: string;
  /** The service's clock, in epoch ms, as the `Date` of the reply has it. */
  readonly nowMs?: number;
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
 * The part of a service that fences and stores use. Its functions may throw a client's errors: the
 * HTTP status is looked for in `status`, `statusCode`, `code`, `$metadata.httpStatusCode`, and
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
  /** For stores, as are the rest: `put`, with the service's clock; without it, they trust none. */
  putTimed?(put: ConditionalPut): Promise<{ readonly etag?: string; readonly nowMs?: number }>;
  /** How far two `nowMs` of the service may differ, in ms; default 2000. */
  readonly slackMs?: number;
  /** The keys that begin with it, in any order. */
  list?(prefix: string): AsyncIterable<string>;
}

/** @throws UsageError */
export function checkAccess(objects: ObjectAccess): void {
  if (typeof objects?.get === 'function' && typeof objects.put === 'function') return;
  throw new UsageError(`Objects must have get and put; this is ${show(objects)}.`);
}
