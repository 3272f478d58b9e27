/** Requests and answers of the dashboard, whatever framework brings them. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface HttpAnswer {
  readonly status: number;
  /** One of these, or none. */
  readonly json?: unknown;
  readonly text?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Nothing is loaded from elsewhere, and no text becomes code or a page in another's frame. */
const POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"],
  ...["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
  ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // With 'no-referrer' a form comes with `Origin: null`.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Longest body, in bytes: a name, typed twice, a reason, and their escapes. */
const MAX_BODY_BYTES = 16 * 1024;

/** On every response, also of a stream. */
export function protect(response: ServerResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
}

export function send(response: ServerResponse, answer: HttpAnswer): void {
  const { status, json, headers = {} } = answer;
  const text = json === undefined ? (answer.text ?? '') : JSON.stringify(json);
  const type = json === undefined ? (answer.type ?? 'text/plain') : 'application/json';
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, ...headers });
  response.end(text);
}

/** The last part of the path as the browser sees it; empty for a folder. */
export function lastOf(request: IncomingMessage): string {
  // Express takes away the path below which it mounts.
  const { originalUrl } = request as IncomingMessage & { readonly originalUrl?: string };
  const [path = ''] = (originalUrl ?? request.url ?? '').split('?');
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The body has more bytes than are read. */
export class LongBody extends Error {}

/** A body of more than so many times the limit is not even read to be thrown away. */
const THROWN_AWAY = 16;

/** The body as text, or what a framework has made of it. @throws LongBody */
export async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const { body } = request as IncomingMessage & { readonly body?: unknown };
  // Parsers of Express 4 leave `{}` where they read nothing.
  if (body !== undefined && request.readableDidRead) return body;
  const chunks: Buffer[] = [];
  let length = 0;
  // To end the request would end the connection, and the caller would not learn why.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
    // Most clients hear nothing while they send.
    else if (length > THROWN_AWAY * MAX_BODY_BYTES) break;
  }
  if (length > MAX_BODY_BYTES)
    throw new LongBody(`The body has more than ${MAX_BODY_BYTES} bytes.`);
  return Buffer.concat(chunks).toString();
}
