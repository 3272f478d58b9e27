/**
 * Server-sent events to many pages.
 *
 * Each page has a set of names whose rows it does not know, which begins as all of them. A look
 * adds what has changed, and rows are written while the connection takes them. So each row that a
 * slow page gets is the newest, and no page delays another. Names that came and went stay in the
 * set: a page with more of them than two looks can have is cut off, and comes back.
 *
 * What would break it: a write after the end, which ends the process; a page whose connection has
 * closed before, or that does not read to its end, which would stay for ever.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { timers } from '../base/clock.ts';
import type { BoardNews } from './board.ts';
import { MAX_RESOURCES, ROWS_AT_ONCE, type StoreWatcher } from './watcher.ts';
import type { BoardFrame } from './wire.ts';

/** Most pages at a time. */
const MAX_PAGES = 100;

/** Lines of the timeline that a new page gets. */
const FIRST_LINES = 500;

/** How long a page may take to read to its end, in ms. */
const GRACE_MS = 1_000;

export class Streams {
  readonly #watcher: StoreWatcher;
  readonly #pages = new Set<OpenPage>();
  #isClosed = false;

  constructor(watcher: StoreWatcher) {
    this.#watcher = watcher;
  }

  /** Returns why not, if it does not take the page. */
  add({ socket }: IncomingMessage, response: ServerResponse): string | undefined {
    if (this.#isClosed) return 'The dashboard is closed.';
    if (this.#pages.size >= MAX_PAGES) return 'Too many pages are open.';
    // It has left while `auth` was deciding.
    if (socket.destroyed) return undefined;
    response.shouldKeepAlive = false;
    response.writeHead(200, HEADERS);
    const page = new OpenPage(this.#watcher, response, socket);
    this.#pages.add(page);
    // The response would not tell, if it still waits for another one on its connection.
    socket.once('close', () => {
      this.#pages.delete(page);
      if (this.#pages.size === 0) this.#watcher.stop();
    });
    this.#watcher.start(this);
    page.pump();
    return undefined;
  }

  send(news: BoardNews): void {
    const alike = new Map<number, string>();
    for (const page of this.#pages) page.send(news, alike);
  }

  /** For good: ends all pages, and takes no more. */
  close(): void {
    this.#isClosed = true;
    this.#watcher.stop();
    for (const page of this.#pages) page.end();
  }
}

/** Nothing on the way may hold the stream back, or compress it, which does the same. */
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

class OpenPage {
  readonly #watcher: StoreWatcher;
  readonly #response: ServerResponse;
  readonly #server: Server | undefined;
  readonly #unknown: Set<string>;
  #nextLine: number;
  #open = true;

  constructor(watcher: StoreWatcher, response: ServerResponse, socket: IncomingMessage['socket']) {
    this.#watcher = watcher;
    this.#response = response;
    this.#server = (socket as typeof socket & { readonly server?: Server }).server;
    this.#unknown = new Set(watcher.board.names);
    this.#nextLine = Math.max(0, watcher.history.next - FIRST_LINES);
    response.on('drain', () => {
      this.#open = true;
      if (this.#unknown.size > 0) this.pump();
    });
  }

  /** `alike` has the messages of this look for pages that know all before it. */
  send({ changed, gone, beaten }: BoardNews, alike: Map<number, string>): void {
    // A server that has stopped listening waits for its connections to end.
    if (this.#server?.listening === false) this.end();
    if (this.#isOver) return;
    if (this.#open && this.#unknown.size === 0 && changed.length <= ROWS_AT_ONCE) {
      let text = alike.get(this.#nextLine);
      if (text === undefined) {
        text = textOf({ ...this.#frame(changed), gone, beats: this.#beats(beaten) });
        alike.set(this.#nextLine, text);
      }
      return this.#write(text);
    }
    for (const names of [changed, gone, beaten]) {
      for (const name of names) this.#unknown.add(name);
    }
    if (this.#unknown.size > 2 * MAX_RESOURCES) this.#response.destroy();
    else this.pump();
  }

  /** Writes rows that the page does not know, while the connection takes them. */
  pump(): void {
    while (this.#open && !this.#isOver) {
      const names = [...this.#unknown].slice(0, ROWS_AT_ONCE);
      for (const name of names) this.#unknown.delete(name);
      const gone = names.filter((name) => this.#watcher.board.row(name) === undefined);
      const more = this.#unknown.size > 0;
      this.#write(textOf({ ...this.#frame(names), gone, ...(more && { more }) }));
      if (!more) return;
    }
  }

  end(): void {
    if (this.#isOver) return;
    this.#response.end();
    timers.setTimeout(() => this.#response.destroy(), GRACE_MS).unref();
  }

  get #isOver(): boolean {
    return this.#response.writableEnded || this.#response.destroyed;
  }

  #frame(names: readonly string[]): BoardFrame {
    const { board, history } = this.#watcher;
    const rows = names.flatMap((name) => board.row(name) ?? []);
    return { ...this.#watcher.frame(), rows, told: history.since(this.#nextLine) };
  }

  #beats(names: readonly string[]): BoardFrame['beats'] {
    return names.map((name) => {
      const seats = this.#watcher.board.row(name)?.seats ?? [];
      return [name, ...seats.map(({ endsAt }) => endsAt)] as const;
    });
  }

  #write(text: string): void {
    this.#nextLine = this.#watcher.history.next;
    this.#open = this.#response.write(text);
  }
}

/** JSON has no line breaks, which would end the message. */
function textOf(frame: BoardFrame): string {
  return `data: ${JSON.stringify(frame)}\n\n`;
}
