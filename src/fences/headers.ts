/**
 * The token of a lease in the headers of a request, for a service that keeps the guarded data.
 *
 * Headers are no authentication: a caller may write any token into them, a high one to lock others
 * out, or one of a lock that it never held. Who may call, and that nothing is changed on the way,
 * is for the service and its transport to see to.
 * What is parsed is what was written, and nothing else: names are encoded in one way only.
 */
import { isLockError, UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import { show } from '../base/show.ts';
import type { FencingToken } from '../contract/token.ts';
import { FenceHeadersError } from './errors.ts';
import { type EnterToken, readLease } from './fence.ts';

export interface FenceFromOptions {
  /** The full name of the lock that guards what the request is about. */
  readonly resource?: string;
}

/** Headers as a Fetch `Headers` has them, or Node's `request.headers`, or any plain object. */
export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A Fetch `Request`, Node's `IncomingMessage`, or their headers alone. */
export type RequestSource = HeaderSource | { readonly headers: HeaderSource };

const PREFIX = 'holdfast-';

/**
 * The headers that tell a service of this lease: `holdfast-resource`, `holdfast-lineage`,
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
 * The lease that a request tells of, for a fence to enter with.
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
 * @throws UsageError for what is no request, or bad options.
 */
export function fenceFrom(source: RequestSource, options: FenceFromOptions = {}): FencingToken {
  const { resource: wanted } = readOptions(options, ['resource'], 'fenceFrom');
  // Undefined was meant to be a name: to go on without it would let in any lease.
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

/** Nothing but what `encodeURIComponent` makes of a name. */
function nameIn(read: Read, part: 'resource' | 'lineage'): string {
  const text = read(part);
  try {
    const name = decodeURIComponent(text);
    if (encodeURIComponent(name) === text) return name;
  } catch {
    // What it is stands in the error.
  }
  const message = `The header ${PREFIX}${part} is no name in percent-encoding: ${show(text)}.`;
  throw new FenceHeadersError('malformed', message);
}

type Read = (part: 'resource' | 'lineage' | 'kind' | 'token') => string;

/** @throws UsageError */
function readerOf(source: RequestSource): Read {
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
    throw new UsageError(`The header ${name} is no text: ${show(value)}.`);
  };
}

/** In a plain object the same name may be there in capitals and in small letters. */
function valuesIn(headers: object, name: string): unknown[] {
  if ('get' in headers && typeof headers.get === 'function') return [headers.get(name)];
  return Object.entries(headers)
    .filter(([key, value]) => key.toLowerCase() === name && value !== undefined)
    .flatMap(([, value]) => value);
}
