/** A dashboard on a real server of this process, and a browser's requests to it. */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textFrom } from 'node:stream/consumers';
import { createLocks, type Locks } from 'holdfast';
import { type Dashboard, type DashboardOptions, dashboard } from 'holdfast/dashboard';
import { memoryStore } from 'holdfast/memory';
import { type CountingStore, countingStore } from 'holdfast/testkit';
import { expect, onTestFinished } from 'vitest';
import { merged } from '../../src/dashboard/ui/events.ts';
import type { BoardFrame, QueueEvent, QueueRow } from '../../src/dashboard/wire.ts';

export const TOKEN = 'a-token-of-an-operator';

/** As `expect.poll`, on a machine that may be busy: only what never comes takes so long. */
export function soon<T>(get: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(get);
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request with exactly these headers, which `fetch` would not send. */
export async function ask(url: string, asking: Asking = {}): Promise<Reply> {
  const { method = 'GET', headers = {}, body } = asking;
  const sent = request(url, { method, headers, agent: false });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const { statusCode: status, headers: answered } = response;
  return { status, headers: answered, text: await textFrom(response) };
}

/** As the operator. */
export const BEARER = { authorization: `Bearer ${TOKEN}` };

/** What a browser sends with a request of the page's own script. */
export function fromPage(url: string): Record<string, string> {
  return { ...BEARER, origin: new URL(url).origin, 'content-type': 'application/json' };
}

/** Evicts as the page's own script does. */
export function evict(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = fromPage(url),
): Promise<Reply> {
  return ask(`${url}evict`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** What it sends for that. */
export function evictionOf(name: string, token: bigint): Readonly<Record<string, unknown>> {
  return { name, token: String(token), typed: name, reason: 'it hangs', now: true };
}

/** What a page gets from the stream. */
export class Page {
  readonly frames: BoardFrame[] = [];
  readonly rows: Map<string, QueueRow> = new Map();
  ended = false;
  readonly #leave: () => void;

  /** One that has been told of all there is. */
  static async loaded(url: string): Promise<Page> {
    const page = new Page(url);
    await soon(() => page.isLoaded).toBe(true);
    return page;
  }

  constructor(url: string) {
    const sent = request(`${url}events`, { headers: BEARER, agent: false });
    this.#leave = () => sent.destroy();
    sent.on('error', () => {});
    sent.once('close', () => (this.ended = true));
    sent.once('response', (response) => {
      let rest = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const messages = (rest + chunk).split('\n\n');
        rest = messages.pop() ?? '';
        for (const message of messages) this.#take(JSON.parse(message.replace(/^data: /, '')));
      });
    });
    sent.end();
    onTestFinished(() => this.leave());
  }

  get last(): BoardFrame | undefined {
    return this.frames.at(-1);
  }

  get isLoaded(): boolean {
    return this.last?.more === false;
  }

  /** The timeline, as the page shows it. */
  get lines(): readonly QueueEvent[] {
    const all = this.frames.flatMap(({ told }) => told);
    return merged([], all);
  }

  get told(): readonly string[] {
    return this.lines.map(({ name, what }) => `${name} ${what}`);
  }

  leave(): void {
    this.#leave();
  }

  #take(frame: BoardFrame): void {
    this.frames.push(frame);
    for (const name of frame.gone) this.rows.delete(name);
    for (const row of frame.rows) this.rows.set(row.name, row);
  }
}

/** A stream that is not read before its `read` is called, and the response that feeds it. */
export interface Silent {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly text: string;
  read(): void;
}

export async function openSilently(server: Server, url: string): Promise<Silent> {
  const served = once(server, 'request');
  const sent = request(`${url}events`, { headers: BEARER, agent: false });
  sent.on('error', () => {}).end();
  const [[incoming], [, response]] = await Promise.all([once(sent, 'response'), served]);
  const silent = {
    incoming,
    response,
    text: '',
    read(): void {
      incoming.setEncoding('utf8').on('data', (chunk: string) => (silent.text += chunk));
    },
  };
  return silent;
}

export interface Bed {
  readonly url: string;
  readonly locks: Locks;
  /** Of another machine. */
  readonly others: Locks;
  readonly store: CountingStore;
  readonly server: Server;
  readonly shown: Dashboard;
}

export async function start(options: Partial<DashboardOptions> = {}): Promise<Bed> {
  const store = countingStore(memoryStore());
  const locks = createLocks(store, { prefix: 'shop:' });
  const others = createLocks(store, { prefix: 'shop:', label: 'till' });
  const shown = dashboard(locks, { auth: TOKEN, every: 100, ...options });
  const server = createServer(shown).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    shown.close();
    server.closeAllConnections();
    server.close();
    await Promise.all([locks.close({ drain: 0 }), others.close({ drain: 0 })]);
  });
  return { url: `http://127.0.0.1:${port}/locks/`, locks, others, store, server, shown };
}
