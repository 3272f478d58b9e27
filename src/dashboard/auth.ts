/**
 * Who may look, and from where a change may come.
 *
 * A request is let in by the token, as `Authorization: Bearer`, or by the cookie that the token
 * was traded for. The cookie is made from the token by a one-way function, so that it does not give
 * the token away; it is HttpOnly, and SameSite=Strict, so that no other site can use it. Both are
 * compared as hashes in constant time. A change must also come from a page of the same origin,
 * which browsers tell and scripts cannot forge.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { show } from '../base/show.ts';

/** Decides whether a request is let in. */
export type Admits = (request: IncomingMessage) => boolean | Promise<boolean>;

export interface AuthGate {
  readonly admits: Admits;
  /** Returns a cookie for the right token; undefined if tokens are not how to get in. */
  readonly login?: (token: string, request: IncomingMessage) => string | undefined;
}

/** The least length of a token, in characters. */
export const MIN_TOKEN = 16;

export function gateOf(auth: string | Admits): AuthGate {
  return typeof auth === 'string' ? tokenGate(auth) : { admits: (given) => admitted(auth, given) };
}

/** Only `true` lets a request in. */
async function admitted(admits: Admits, request: IncomingMessage): Promise<boolean> {
  try {
    return (await admits(request)) === true;
  } catch (error) {
    process.emitWarning(`The auth of the dashboard failed: ${show(error)}`);
    return false;
  }
}

function tokenGate(token: string): AuthGate {
  const session = derived(token, 'session');
  // Cookies do not know ports, so dashboards of one machine need different names.
  const name = `holdfast-${derived(token, 'name').slice(0, 8)}`;
  return {
    admits({ headers: { authorization = '', cookie } }) {
      const [, bearer = ''] = /^Bearer (.+)$/i.exec(authorization) ?? [];
      // A proxy may add a token of its own, beside the cookie.
      return isSame(bearer, token) || isSame(cookieIn(cookie, name), session);
    },
    login(given, { socket, headers }) {
      if (!isSame(given, token)) return undefined;
      const isEncrypted = 'encrypted' in socket || headers['x-forwarded-proto'] === 'https';
      const secure = isEncrypted ? '; Secure' : '';
      // Without a path: the browser knows below which path the dashboard is mounted.
      return `${name}=${session}; HttpOnly; SameSite=Strict${secure}`;
    },
  };
}

function derived(token: string, use: string): string {
  return createHmac('sha256', token).update(`holdfast dashboard ${use}`).digest('hex');
}

function isSame(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

function cookieIn(header = '', name: string): string {
  const pairs = header.split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([key]) => key === name)?.[1] ?? '';
}

/** Whether the request was made by a page of this server, as far as the browser says. */
export function isSameOrigin({ headers }: IncomingMessage): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers;
  if (site !== undefined) return site === 'same-origin';
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host;
}

/** What proxies add, if they add anything. */
const OF_PROXIES = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/**
 * Lets in requests of this machine to a loopback address, by that name: another name may be a
 * page's own, which leads here. What a proxy passes on comes from elsewhere, and is refused where
 * it shows: by a header, or by HTTP/1.0, which no browser speaks and some proxies do. A proxy or
 * tunnel that shows in nothing cannot be told from this machine.
 */
export const fromLoopback: Admits = ({ socket, headers, httpVersion }) =>
  isLoopback(socket.remoteAddress ?? '') &&
  isLoopback(headers.host?.replace(/:\d+$/, '') ?? '') &&
  httpVersion !== '1.0' &&
  OF_PROXIES.every((name) => headers[name] === undefined);

export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:/, '');
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
