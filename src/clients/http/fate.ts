/** The outcome of a request over HTTP, by its error or reply; and the clock of the service. */
import { isLockError, type LockError } from '../../base/errors.ts';
import { StoreError } from '../../contract/errors.ts';
import { causesOf, describe } from '../causes.ts';
import type { HttpReply } from './client.ts';

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

/** No connection came about, or the client had nothing to sign the request with. */
const UNSENT = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|Credentials/;

function isUnsent(error: unknown): boolean {
  return [...causesOf(error)].some(({ code, name }) => UNSENT.test(`${code} ${name}`));
}

/** Whether a client of AWS sent the request more than once: an earlier copy may have arrived. */
export function isRepeated(error: unknown): boolean {
  const { $metadata } = (error ?? {}) as { $metadata?: { attempts?: number } };
  return ($metadata?.attempts ?? 1) > 1;
}

/** What an error calls itself: services give their own reasons so. */
export function nameOf(error: unknown): string {
  return String((error as { readonly name?: unknown } | undefined)?.name);
}

const ADVICE: Readonly<Record<Fate, string>> = {
  refused: 'refused the condition of a request',
  missing: 'does not have what the locks are kept in',
  later: 'is too busy, or cannot be reached',
  never: 'refused the request',
  unsupported: 'does not support such requests',
  unknown: 'failed, or could not be heard',
};

/** @param fate what is known from the service's own codes; default: by the HTTP status. */
export function failureOf(
  what: string,
  error: unknown,
  fate: Fate = isUnsent(error) ? 'later' : fateOf(error),
): LockError {
  if (isLockError(error)) return error;
  return new StoreError(`${what} ${ADVICE[fate]} (${describe(error)}).`, {
    cause: error,
    retryable: ['refused', 'later', 'unknown'].includes(fate),
    outcome: fate === 'unknown' || isRepeated(error) ? 'unknown' : 'failed',
  });
}

/** The JSON of a reply that reports success. @throws StoreError for any other. */
export function bodyOf<T>(what: string, reply: Pick<HttpReply, 'status' | 'text'>): T {
  const { status, text } = reply;
  try {
    if (status >= 200 && status < 300) return JSON.parse(text) as T;
  } catch {
    // A proxy has sent a page of its own.
  }
  const [, said = text] = /"message":"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  throw failureOf(what, Object.assign(new Error(`HTTP ${status}: ${said}`), { status }));
}

/** How far the times in two replies may differ, in ms: `Date` counts seconds, on many machines. */
export const DATE_SLACK_MS = 2000;

/** The clock of a service, in epoch ms, by the head of its reply. */
export function timeIn(headers: Readonly<Record<string, unknown>> = {}): {
  readonly nowMs?: number;
} {
  const nowMs = Date.parse(String(headers.date));
  return Number.isNaN(nowMs) ? {} : { nowMs };
}
