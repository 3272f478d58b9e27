/**
 * The dashboard as a request handler: one page, its files, a stream of what the store shows, and
 * one change, `evict`.
 *
 * Invariant: a request that `auth` has not let in gets nothing but the files of the page, which are
 * public, the way into a folder, and the form for the token, which goes nowhere else; and nothing
 * is changed except by a POST in JSON from a page of the same origin, with the name typed, of a
 * dashboard that is not read-only. Names, labels and reasons travel as JSON and become text nodes;
 * the policy in http.ts forbids every script but the page's own.
 * What would break it: a route that is looked up before `auth`; a piece of a name in HTML.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { onAbort } from '../base/aborts.ts';
import { type Duration, millisecondsOf } from '../base/duration.ts';
import { isError, isLockError, UsageError } from '../base/errors.ts';
import { checkOptions, flag, text } from '../base/options.ts';
import type { Holder } from '../contract/store.ts';
import type { Engine } from '../core/engine.ts';
import { recall } from '../jobs/records.ts';
import { engineOf, type Locks } from '../locks.ts';
import { evict } from '../operators/evict.ts';
import { type Admits, type AuthGate, gateOf, isSameOrigin, MIN_TOKEN } from './auth.ts';
import { whoOf, whoText } from './board.ts';
import { bodyOf, type HttpAnswer, LongBody, lastOf, protect, send } from './http.ts';
import { listen } from './own-events.ts';
import { door, FILES, PAGE } from './page.ts';
import { Streams } from './streams.ts';
import { StoreWatcher } from './watcher.ts';
import type { DoneRecord, EvictRequest } from './wire.ts';

export interface DashboardOptions {
  /**
   * Lets requests in: a function of the request, or a token of at least 16 characters, which a
   * person types once, or a program sends as `Authorization: Bearer`.
   */
  readonly auth: string | Admits;
  /** Default true. With false, a person who is let in can evict holders and waiters. */
  readonly readOnly?: boolean;
  /** Shows only resources whose names begin with it; default all. */
  readonly prefix?: string;
  /** How often it looks at the store while a page is open; default 1 s, at least 100 ms. */
  readonly every?: Duration;
}

/** A request handler for `node:http`, and for frameworks that take one. */
export interface Dashboard {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Ends the streams of all pages, and takes no more. `locks.close()` does so, too. */
  close(): void;
}

const MIN_EVERY_MS = 100;

const OPTIONS = {
  auth: (given: string | Admits): string | Admits => {
    if (typeof given === 'function') return given;
    if (typeof given === 'string' && given.length >= MIN_TOKEN) return given;
    throw new UsageError(
      `The dashboard needs auth: a function, or a token of at least ${MIN_TOKEN} characters.`,
    );
  },
  readOnly: flag(true),
  prefix: (given: string | undefined, name: string): string => text(given, name) ?? '',
  every: (given: Duration = '1s', name: string): number => {
    const ms = millisecondsOf(given, name);
    if (ms >= MIN_EVERY_MS) return ms;
    throw new UsageError(`${name} must be at least ${MIN_EVERY_MS} ms.`);
  },
};

/**
 * Serves a page that shows all queues, live, below any path.
 *
 * @example
 * import { createServer } from 'node:http';
 * import { createLocks } from 'holdfast';
 * import { dashboard } from 'holdfast/dashboard';
 * import { memoryStore } from 'holdfast/memory';
 *
 * const locks = createLocks(memoryStore());
 * createServer(dashboard(locks, { auth: ({ headers }) => headers['x-user'] === 'ann' }));
 *
 * @throws UsageError, ClosedError, and UnsupportedError if the store cannot list names.
 */
export function dashboard(locks: Locks, options: DashboardOptions): Dashboard {
  const engine = engineOf(locks);
  const { auth, readOnly, prefix, every: everyMs } = checkOptions(options, OPTIONS, 'dashboard');
  engine.checkOpen();
  engine.services.calls.verb('list');
  const watcher = new StoreWatcher({ locks, engine, readOnly, prefix, everyMs });
  const streams = new Streams(watcher);
  const gate = gateOf(auth);
  const stopListening = listen(engine, (report, by) => watcher.report(report, by));
  const close = (): void => {
    forgetClosing();
    stopListening();
    streams.close();
  };
  const forgetClosing = onAbort(engine.closing.signal, close);

  /** Undefined: the response is a stream and goes on, or it is over. */
  const route = async (request: IncomingMessage, response: ServerResponse) => {
    const last = lastOf(request);
    const what = `${request.method} ${last}`;
    const file = request.method === 'GET' ? FILES.get(last) : undefined;
    if (file) return file;
    // Without the slash at the end the names in the page would lead beside it.
    const isBare = last !== '' && !last.includes('.') && last !== 'events' && last !== 'record';
    if (request.method === 'GET' && isBare) {
      return { status: 308, headers: { location: `./${last}/` } };
    }
    if (what === 'POST ' && gate.login) return login(gate.login, request);
    if (!(await gate.admits(request))) {
      const says = 'You need to be let in.';
      return last === '' ? door(401, says, gate.login !== undefined) : refusal(401, says);
    }
    if (what === 'GET ') return PAGE;
    if (what === 'GET record') {
      const name = new URLSearchParams(request.url?.split('?')[1]).get('name') ?? '';
      watcher.checkShown(name);
      return record(engine, name);
    }
    if (what === 'POST evict') {
      return readOnly ? refusal(403, 'It is read-only.') : evictFrom(locks, watcher, request);
    }
    if (what === 'GET events') {
      const whyNot = streams.add(request, response);
      return whyNot === undefined ? undefined : refusal(503, whyNot);
    }
    return refusal(404, 'There is no such page.');
  };

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    protect(response);
    route(request, response)
      // A client that has left gets no answer.
      .catch((error: unknown) => (request.socket.destroyed ? undefined : failure(error)))
      .then((answer) => answer && send(response, answer))
      .catch(() => response.destroy());
  };
  return Object.assign(serve, { close });
}

/** Trades the token for a cookie. */
async function login(cookieFor: NonNullable<AuthGate['login']>, request: IncomingMessage) {
  if (!isSameOrigin(request)) return door(403, 'It does not come from this page.', true);
  const body = await bodyOf(request);
  const fields = typeof body === 'string' ? new URLSearchParams(body) : undefined;
  const given = fields ? fields.get('token') : (body as { token?: unknown } | undefined)?.token;
  const cookie = typeof given === 'string' ? cookieFor(given, request) : undefined;
  if (cookie === undefined) return door(401, 'That is not the token.', true);
  return { status: 303, headers: { location: './', 'set-cookie': cookie } };
}

/** Who did the work of a key of `once`; its result is nothing for this page. */
async function record(engine: Engine, name: string): Promise<HttpAnswer> {
  if (!name.startsWith('once:')) throw new UsageError('Only once: has records.');
  const found = await recall<{ by: Holder; token: string }>(engine, engine.resource(name));
  if (!found) return { status: 200, json: null };
  const { note, leftMs } = found;
  const done: DoneRecord = { ...whoOf(note.by), token: note.token, leftMs };
  return { status: 200, json: done };
}

/** The one change that a page can make. */
async function evictFrom(locks: Locks, watcher: StoreWatcher, request: IncomingMessage) {
  if (!isSameOrigin(request)) return refusal(403, 'It does not come from this page.');
  const [type = ''] = request.headers['content-type']?.split(';') ?? [];
  if (type.trim().toLowerCase() !== 'application/json') return refusal(415, 'It must be JSON.');
  const { name, token, reason, now } = readEviction(await bodyOf(request));
  watcher.checkShown(name);
  const evicted = await evict(locks, name, { token: BigInt(token), reason, now });
  if (!evicted) return refusal(404, 'There is no such claim any more.');
  const seat = watcher.board.row(name)?.seats.find((each) => each.token === token);
  const who = seat ? whoText(seat) : null;
  watcher.history.evicted({ at: Date.now(), name, token, who, detail: reason });
  return { status: 200, json: { evicted: true } };
}

/** @throws UsageError if it is not an `EvictRequest`, or if the name was not typed. */
function readEviction(body: unknown): Required<EvictRequest> {
  const given = (json(body) ?? {}) as Partial<Record<keyof EvictRequest, unknown>>;
  const textOf = (key: 'name' | 'token' | 'reason' | 'typed'): string => {
    const value = given[key];
    if (typeof value === 'string' && value !== '') return value;
    throw new UsageError(`${key} must be text.`);
  };
  const [name, token, typed] = [textOf('name'), textOf('token'), textOf('typed')];
  if (typed !== name) throw new UsageError('What was typed is not the name.');
  if (!/^\d{1,30}$/.test(token)) throw new UsageError('token must be a decimal number.');
  return { name, token, typed, reason: textOf('reason'), now: given.now === true };
}

function json(body: unknown): unknown {
  if (typeof body !== 'string') return body;
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new UsageError('The body is not JSON.', { cause });
  }
}

function refusal(status: number, error: string): HttpAnswer {
  return { status, json: { error } };
}

function failure(error: unknown): HttpAnswer {
  // What has not been read of it must not be taken for the next request.
  const headers = { connection: 'close' };
  if (error instanceof LongBody) return { ...refusal(413, error.message), headers };
  if (isLockError(error, 'USAGE')) return refusal(400, error.message);
  if (isLockError(error, 'UNSUPPORTED')) return refusal(501, error.message);
  if (isLockError(error)) return refusal(503, 'The store does not reply.');
  process.emitWarning(isError(error) ? error : String(error));
  return refusal(500, 'The dashboard failed.');
}
