/** A dashboard on a real server of this process, and a browser's requests to it. */
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import { text as textFrom } from 'node:stream/consumers';
import { createLocks, type Locks } from 'holdfast';
import { type Dashboard, type DashboardOptions, dashboard } from 'holdfast/dashboard';
import { memoryStore } from 'holdfast/memory';
import { type CountingStore, countingStore } from 'holdfast/testkit';
import { expect, onTestFinished } from 'vitest';
import { merged } from '../../src/dashboard/ui/events.ts';
import type { BoardFrame, QueueEvent, QueueRow } from '../../src/dashboard/wire.ts';
import { portOf } from '../support/listening.ts';

export const TOKEN = 'a-token-of-an-operator';

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
  readonly leave: () => void;
  ended = false;

  /** One that has been told of all there is. */
  static async loaded(url: string): Promise<Page> {
    const page = new Page(url);
    await expect.poll(() => page.isLoaded).toBe(true);
    return page;
  }

  constructor(url: string) {
    const sent = request(`${url}events`, { headers: BEARER, agent: false });
    this.leave = () => void sent.destroy();
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
    onTestFinished(this.leave);
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

  #take(frame: BoardFrame): void {
    this.frames.push(frame);
    for (const name of frame.gone) this.rows.delete(name);
    for (const row of frame.rows) this.rows.set(row.name, row);
  }
}

/** A stream that is not read yet, and the response that feeds it. */
export interface Silent {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
}

export async function openSilently(server: Server, url: string): Promise<Silent> {
  const served = once(server, 'request');
  const sent = request(`${url}events`, { headers: BEARER, agent: false });
  sent.on('error', () => {}).end();
  const [[incoming], [, response]] = await Promise.all([once(sent, 'response'), served]);
  return { incoming, response };
}

/** A server with this handler, until the test is over. */
export async function serve(handler: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(handler);
  const port = await portOf(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${port}` };
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
  onTestFinished(async () => {
    await Promise.all([locks.close({ drain: 0 }), others.close({ drain: 0 })]);
  });
  const { server, url } = await serve(shown);
  onTestFinished(() => shown.close());
  return { url: `${url}/locks/`, locks, others, store, server, shown };
}
