/**
 * The token of a lease in the headers of a request, for a service that keeps the guarded data.
 *
 * Headers are not authentication: a caller may write any token into them, a high one to lock others
 * out, or one of a lock that it never held. The service must authenticate callers, and its
 * transport must keep requests from being changed.
 * `fenceFrom` accepts only what `fenceHeaders` writes: names are encoded in one way only.
 */
import { isLockError, UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import { show } from '../base/show.ts';
import type { FencingToken } from '../contract/token.ts';
import { FenceHeadersError } from './errors.ts';
import { type EnterToken, readLease } from './fence.ts';

export interface FenceFromOptions {
  /** The full name of the lock that guards the requested data. */
  readonly resource?: string;
}

/** A Fetch `Headers`, Node's `request.headers`, or any plain object. */
export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A Fetch `Request`, Node's `IncomingMessage`, or their headers alone. */
export type RequestSource = HeaderSource | { readonly headers: HeaderSource };

const PREFIX = 'holdfast-';

/**
 * The headers that pass this lease to a service: `holdfast-resource`, `holdfast-lineage`,
 * `holdfast-kind` and `holdfast-token`, with names in percent-encoding.
 *
 * @example
 * import { fenceHeaders } from 'holdfast/fence';
 *
 * await fetch('http://stock/take', { method: 'POST', headers: fenceHeaders(lease) });
 *
 * @throws UsageError
 */
export function fenceHeaders(lease: EnterToken): Record<string, string> {
  const { resource, lineage, kind = 'mutex', token } = readLease(lease);
  return {
    [`${PREFIX}resource`]: encodeURIComponent(resource),
    [`${PREFIX}lineage`]: encodeURIComponent(lineage),
    [`${PREFIX}kind`]: kind,
    [`${PREFIX}token`]: String(token),
  };
}

/**
 * The lease in a request's headers, to enter a fence with.
 *
 * @example
 * import { createServer } from 'node:http';
 * import { fenceFrom } from 'holdfast/fence';
 *
 * createServer((request, response) => {
 *   const lease = fenceFrom(request, { resource: 'stock' });
 *   response.end(`for ${lease.token}`); // after fence.enter(…, lease)
 * });
 *
 * @throws FenceHeadersError whose `reason` says what is wrong with them.
 * @throws UsageError if `source` is not a request, or for bad options.
 */
export function fenceFrom(source: RequestSource, options: FenceFromOptions = {}): FencingToken {
  const { resource: wanted } = readOptions(options, ['resource'], 'fenceFrom');
  // An undefined `resource` is a mistake: without this check, any lease would pass.
  if ('resource' in options && typeof wanted !== 'string') {
    throw new UsageError(`resource must be text, not ${show(wanted)}.`);
  }
  const read = readerOf(source);
  const [resource, lineage] = [nameIn(read, 'resource'), nameIn(read, 'lineage')];
  const [kind, token] = [read('kind') as FencingToken['kind'], read('token')];
  let lease: FencingToken;
  try {
    lease = readLease({ resource, lineage, kind, token });
  } catch (error) {
    if (!isLockError(error, 'USAGE')) throw error;
    throw new FenceHeadersError('malformed', error.message);
  }
  if (wanted === undefined || wanted === resource) return lease;
  const message = `The request is about ${show(resource)}, not ${show(wanted)}.`;
  throw new FenceHeadersError('foreign', message);
}

/** Accepts only the output of `encodeURIComponent`. */
function nameIn(read: ReadPart, part: 'resource' | 'lineage'): string {
  const text = read(part);
  try {
    const name = decodeURIComponent(text);
    if (encodeURIComponent(name) === text) return name;
  } catch {
    // The error below reports it.
  }
  const message = `The header ${PREFIX}${part} is not a percent-encoded name: ${show(text)}.`;
  throw new FenceHeadersError('malformed', message);
}

type ReadPart = (part: 'resource' | 'lineage' | 'kind' | 'token') => string;

/** @throws UsageError */
function readerOf(source: RequestSource): ReadPart {
  const inner: unknown = (source as { readonly headers?: unknown } | null | undefined)?.headers;
  const headers = typeof inner === 'object' && inner !== null ? inner : source;
  if (typeof headers !== 'object' || headers === null) {
    throw new UsageError(`A request or its headers were expected, not ${show(source)}.`);
  }
  return (part) => {
    const name = PREFIX + part;
    const [value, ...others] = valuesIn(headers, name);
    if (value === undefined || value === null) {
      throw new FenceHeadersError('missing', `The request has no header ${name}.`);
    }
    if (others.length > 0) {
      throw new FenceHeadersError('malformed', `The request has several headers ${name}.`);
    }
    if (typeof value === 'string') return value;
    throw new UsageError(`The header ${name} is not text: ${show(value)}.`);
  };
}

/** A plain object may have the same name in capitals and in small letters. */
function valuesIn(headers: object, name: string): unknown[] {
  if ('get' in headers && typeof headers.get === 'function') return [headers.get(name)];
  return Object.entries(headers)
    .filter(([key, value]) => key.toLowerCase() === name && value !== undefined)
    .flatMap(([, value]) => value);
}
