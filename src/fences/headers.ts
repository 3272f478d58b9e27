/**
 * The token of a lease in the headers of a request, for a service that keeps the guarded data.
 *
 * Headers are no authentication: whoever may send a request may write any token into it, a high one
 * to lock others out, or one of a lock that he never held. With a secret that both sides share they
 * carry a signature (HMAC-SHA-256 over all four): then the token was put there by somebody who
 * knows the secret, and not changed since. It says nothing of the rest of the request, nor of who
 * sends it now: a copy is as good as the original, until the fence has seen a newer token.
 * What is parsed is what was written, and nothing else: names are encoded in one way only.
 */
import { Buffer } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isLockError, UsageError } from '../base/errors.ts';
import { reading, readOptions } from '../base/options.ts';
import { show } from '../base/show.ts';
import type { FencingToken } from '../contract/token.ts';
import { type EnterToken, readLease } from './entering.ts';
import { FenceHeadersError } from './errors.ts';

/** Text, or bytes; 16 bytes at least. */
export type FenceSecret = string | Uint8Array;

export interface FenceHeadersOptions {
  /** Signs them. Not to be signed, leave it out: `undefined` is refused. */
  readonly secret?: FenceSecret;
}

export interface FenceFromOptions {
  /** Only what was signed with one of these is taken. Several, while one follows another. */
  readonly secret?: FenceSecret | readonly FenceSecret[];
  /** The full name of the lock that guards what the request is about. */
  readonly resource?: string;
  /** Where the tokens have to come from. The fence itself refuses a change of it. */
  readonly lineage?: string;
}

/** Headers as a Fetch `Headers` has them, or Node's `request.headers`, or any plain object. */
export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A Fetch `Request`, Node's `IncomingMessage`, or their headers alone. */
export type RequestSource = HeaderSource | { readonly headers: HeaderSource };

const PREFIX = 'holdfast-';
const PARTS = ['resource', 'lineage', 'kind', 'token'] as const;
const SIGNATURE = 'signature';

type Parts = Readonly<Record<(typeof PARTS)[number], string>>;

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
export function fenceHeaders(
  lease: EnterToken,
  options: FenceHeadersOptions = {},
): Record<string, string> {
  const { secret } = readGiven(options, ['secret'], 'fenceHeaders');
  const { resource, lineage, kind = 'mutex', token } = readLease(lease);
  const parts: Parts = {
    ...{ resource: encodeURIComponent(resource), lineage: encodeURIComponent(lineage) },
    ...{ kind, token: String(token) },
  };
  const headers = PARTS.map((part): [string, string] => [PREFIX + part, parts[part]]);
  if (secret !== undefined) headers.push([PREFIX + SIGNATURE, signatureOf(parts, secret)]);
  return Object.fromEntries(headers);
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
  const given = readGiven(options, ['secret', 'resource', 'lineage'], 'fenceFrom');
  for (const part of ['resource', 'lineage'] as const) {
    if (given[part] === undefined || typeof given[part] === 'string') continue;
    throw new UsageError(`${part} must be text, not ${show(given[part])}.`);
  }
  const secrets = secretsIn(given.secret);
  const read = readerOf(source);
  const found = PARTS.map((part): [string, string] => {
    const text = read(PREFIX + part);
    if (text !== undefined) return [part, text];
    throw new FenceHeadersError('missing', `The request has no header ${PREFIX}${part}.`);
  });
  const parts = Object.fromEntries(found) as Parts;
  if (secrets) checkSignature(parts, secrets, read(PREFIX + SIGNATURE));
  const lease = leaseIn(parts);
  for (const part of ['resource', 'lineage'] as const) {
    const wanted = given[part];
    if (wanted === undefined || wanted === lease[part]) continue;
    const message = `The ${part} of the request is ${show(lease[part])}, not ${show(wanted)}.`;
    throw new FenceHeadersError('foreign', message);
  }
  return lease;
}

/**
 * An option that is there and undefined, such as a secret that the environment lacks, was meant to
 * be something: to go on without it would let everybody in.
 */
function readGiven<T extends object>(options: T, known: readonly string[], what: string): T {
  const read = readOptions(options, known, what);
  const lacking = reading(`The options of ${what}`, () =>
    Object.keys(options).find((key) => !Object.hasOwn(read, key)),
  );
  if (lacking === undefined) return read;
  throw new UsageError(`${lacking} is undefined: give it to ${what}, or leave the option out.`);
}

function leaseIn({ resource, lineage, kind, token }: Parts): FencingToken {
  const lease = {
    ...{ resource: decoded(resource, 'resource'), lineage: decoded(lineage, 'lineage') },
    ...{ kind: kind as NonNullable<FencingToken['kind']>, token },
  };
  try {
    return readLease(lease);
  } catch (error) {
    if (!isLockError(error, 'USAGE')) throw error;
    throw new FenceHeadersError('malformed', error.message);
  }
}

/** Nothing but what `encodeURIComponent` makes of a name. */
function decoded(text: string, part: string): string {
  try {
    const name = decodeURIComponent(text);
    if (encodeURIComponent(name) === text) return name;
  } catch {
    // What it is stands in the error.
  }
  const message = `The header ${PREFIX}${part} is no name in percent-encoding: ${show(text)}.`;
  throw new FenceHeadersError('malformed', message);
}

/** Line breaks are in no header, so no two leases are one text. */
function signatureOf(parts: Parts, secret: FenceSecret): string {
  const text = ['holdfast-fence 1', ...PARTS.map((part) => parts[part])].join('\n');
  return createHmac('sha256', checkSecret(secret)).update(text).digest('base64url');
}

function checkSignature(
  parts: Parts,
  secrets: readonly FenceSecret[],
  signature: string | undefined,
): void {
  const given = Buffer.from(signature ?? '');
  const right = secrets.map((secret) => Buffer.from(signatureOf(parts, secret)));
  if (right.some((one) => one.length === given.length && timingSafeEqual(one, given))) return;
  const what = signature === undefined ? 'are not signed' : 'were not signed with this secret';
  throw new FenceHeadersError('forged', `The headers of the request ${what}.`);
}

function secretsIn(secret: FenceFromOptions['secret']): readonly FenceSecret[] | undefined {
  if (secret === undefined) return undefined;
  const all = Array.isArray(secret) ? (secret as readonly FenceSecret[]) : [secret as FenceSecret];
  if (all.length === 0) throw new UsageError('secret must not be an empty list.');
  for (const one of all) checkSecret(one);
  return all;
}

/** It is not shown. */
function checkSecret(secret: FenceSecret): FenceSecret {
  const kept = typeof secret === 'string' || secret instanceof Uint8Array;
  if (kept && Buffer.byteLength(secret) >= 16) return secret;
  throw new UsageError('secret must be text or bytes, 16 bytes of it at least.');
}

type Read = (name: string) => string | undefined;

/** @throws UsageError */
function readerOf(source: RequestSource): Read {
  const inner: unknown = (source as { readonly headers?: unknown } | null)?.headers;
  const headers = typeof inner === 'object' && inner !== null ? inner : source;
  if (typeof headers !== 'object' || headers === null) {
    throw new UsageError(`A request or its headers were expected, not ${show(source)}.`);
  }
  if ('get' in headers && typeof headers.get === 'function') {
    const { get } = headers as { get(name: string): string | null };
    return (name) => get.call(headers, name) ?? undefined;
  }
  const entries = Object.entries(headers as Readonly<Record<string, unknown>>);
  return (name) => {
    const values = entries
      .filter(([key, value]) => key.toLowerCase() === name && value !== undefined)
      .flatMap(([, value]) => value);
    if (values.length > 1) {
      throw new FenceHeadersError('malformed', `The request has several headers ${name}.`);
    }
    const [value] = values;
    if (value === undefined || typeof value === 'string') return value;
    throw new UsageError(`The header ${name} is no text: ${show(value)}.`);
  };
}
