/**
 * Objects that are written on a condition: what a service has to offer, and what its answers mean.
 */
import { type Duration, parseDuration } from '../base/duration.ts';
import { UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import { show } from '../base/show.ts';
import { UnsupportedError } from '../contract/errors.ts';
import { abortable, limited } from '../stores/abortable.ts';

/** Text under a key, and the service's name for it as it is. */
export interface StoredObject {
  readonly text: string;
  readonly etag: string;
}

/** A write that is carried out only if the condition holds; one of the two is there. */
export interface ConditionalPut {
  readonly key: string;
  readonly text: string;
  /** The ETag of what is there. */
  readonly ifMatch?: string;
  /** Nothing is there. */
  readonly ifNoneMatch?: '*';
}

/**
 * As much of a service as the fence uses. Its functions may throw what a client throws: the HTTP
 * status is looked for in `status`, `statusCode`, `code`, `$metadata.httpStatusCode`, and
 * `response.status` or `response.statusCode`.
 */
export interface ObjectAccess {
  /** What is there now, from no cache; undefined, or status 404, if nothing is. */
  get(key: string): Promise<StoredObject | undefined>;
  /**
   * The new ETag, or undefined where the service does not tell. Throws with status 412 if the
   * condition does not hold.
   */
  put(put: ConditionalPut): Promise<string | undefined>;
}

/**
 * What became of a request. `refused`: the condition does not hold. `missing`: there is nothing.
 * `later`: not carried out, but may be when it is sent again. `never`: nor will it be.
 * `unsupported`: the service knows no such requests.
 */
export type Fate = 'refused' | 'missing' | 'later' | 'never' | 'unsupported' | 'unknown';

const FATES: Readonly<Record<number, Fate>> = {
  ...{ 404: 'missing', 410: 'missing', 412: 'refused' },
  // Of S3: another request for this object was under way. Too many requests.
  ...{ 409: 'later', 429: 'later' },
  // Also of services that know the request, and not its condition.
  501: 'unsupported',
  // Too slow: it may have been carried out.
  408: 'unknown',
};

export function fateOf(error: unknown): Fate {
  const status = statusOf(error);
  return FATES[status] ?? (status >= 400 && status < 500 ? 'never' : 'unknown');
}

/** Clients keep other things under these names as well: text, or numbers of their own. */
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

export interface HttpObjectsOptions {
  /** Where the object with this key is. Text, or a URL: the key, encoded, is appended. */
  readonly url: string | URL | ((key: string) => string | URL);
  /** Default: the global one. It may sign requests. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Sent with each request. What is written is `application/json`, unless they say otherwise. */
  readonly headers?: Readonly<Record<string, string>>;
  /** After so long a request has failed; default 10 s. */
  readonly timeout?: Duration;
}

const OPTIONS = ['url', 'fetch', 'headers', 'timeout'];

/**
 * Objects of an HTTP service with GET and PUT, ETags, `If-Match` and `If-None-Match: *`.
 *
 * @example
 * import { httpObjects, objectFence } from 'holdfast/fence';
 *
 * const fence = objectFence(httpObjects({ url: 'https://files.example/plans/' }));
 *
 * @throws UsageError
 */
export function httpObjects(options: HttpObjectsOptions): ObjectAccess {
  const given = readOptions(options, OPTIONS, 'httpObjects');
  const { url, fetch: send = fetch } = given;
  const headers = readHeaders(given.headers);
  const timeoutMs = parseDuration(given.timeout ?? '10s', 'timeout');
  if (!(typeof url === 'string' || typeof url === 'function' || url instanceof URL)) {
    throw new UsageError(`url must be text, a URL or a function, not ${show(url)}.`);
  }
  const place = (key: string): string =>
    String(typeof url === 'function' ? url(key) : `${url}${segmentOf(key)}`);

  function request<T>({ key, ...init }: Request, read: Read<T>): Promise<T> {
    const at = place(key);
    const ask = async (signal: AbortSignal): Promise<T> => {
      const response = await send(at, { ...init, signal });
      if (response.ok) return read(response, await response.text());
      const { status, statusText } = response;
      await response.body?.cancel();
      throw Object.assign(new Error(`${init.method} ${status} ${statusText}`.trim()), { status });
    };
    // Not every function in the place of `fetch` hands the signal on.
    return limited(timeoutMs, [], (signal) => abortable(signal, ask(signal)));
  }

  return {
    get: async (key) =>
      request({ key, method: 'GET', headers: { ...headers, ...AS_IT_IS } }, (response, text) => {
        const etag = response.headers.get('etag');
        if (etag) return { text, etag };
        throw new UnsupportedError('ETag', 'The service names no ETag of its objects.');
      }),
    put: async ({ key, text, ifMatch, ifNoneMatch }) => {
      const condition = ifMatch === undefined ? { 'if-none-match': '*' } : { 'if-match': ifMatch };
      if (ifMatch === undefined && ifNoneMatch !== '*')
        throw new UsageError('A put needs a condition.');
      const sent = { 'content-type': 'application/json', ...headers, ...condition };
      return request({ key, method: 'PUT', body: text, headers: sent }, (response) => {
        // A redirection may have made a GET of it: then this is the ETag of something else.
        return response.redirected ? undefined : (response.headers.get('etag') ?? undefined);
      });
    },
  };
}

interface Request extends RequestInit {
  readonly key: string;
}

type Read<T> = (response: Response, text: string) => T;

/** Neither from a cache nor compressed: proxies that compress give it another ETag. */
const AS_IT_IS = { 'cache-control': 'no-cache', 'accept-encoding': 'identity' };

/** In small letters, so that each is there once. */
function readHeaders(headers: HttpObjectsOptions['headers'] = {}): Record<string, string> {
  try {
    return Object.fromEntries(new Headers(headers));
  } catch (cause) {
    throw new UsageError(`headers must be those of a request, not ${show(headers)}.`, { cause });
  }
}

/** URLs leave out segments of dots, also encoded ones. */
function segmentOf(key: string): string {
  if (key !== '.' && key !== '..') return encodeURIComponent(key);
  throw new UsageError(`No URL ends in ${show(key)}: give a function as url.`);
}
