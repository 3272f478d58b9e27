/**
 * Server-sent events to many pages.
 *
 * Each page has a set of names whose rows it does not know, which begins as all of them. A look
 * adds what has changed, and rows are written while the connection takes them. So what a slow page
 * has not got is bounded by the number of names, each row that it gets is the newest, and no page
 * delays another.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Change } from './board.ts';
import type { Watcher } from './watcher.ts';
import type { Frame } from './wire.ts';

/** Most pages at a time. */
const MAX_PAGES = 100;

/** Rows in one message. */
const ROWS_AT_ONCE = 500;

/** Lines of the timeline that a new page gets. */
const FIRST_LINES = 500;

export class Streams {
  readonly #watcher: Watcher;
  readonly #pages = new Set<Page>();

  constructor(watcher: Watcher) {
    this.#watcher = watcher;
  }

  /** False if there are too many. */
  add(request: IncomingMessage, response: ServerResponse): boolean {
    if (this.#pages.size >= MAX_PAGES) return false;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    const page = new Page(this.#watcher, response, serverOf(request));
    this.#pages.add(page);
    response.once('close', () => {
      this.#pages.delete(page);
      if (this.#pages.size === 0) this.#watcher.stop();
    });
    this.#watcher.start(this);
    page.pump();
    return true;
  }

  tell(change: Pick<Change, 'changed' | 'gone' | 'beaten'>): void {
    const alike = new Map<number, string>();
    for (const page of this.#pages) page.tell(change, alike);
  }

  close(): void {
    for (const page of this.#pages) page.end();
  }
}

interface Listening {
  readonly listening?: boolean;
}

class Page {
  readonly #watcher: Watcher;
  readonly #response: ServerResponse;
  readonly #server: Listening | undefined;
  readonly #unknown: Set<string>;
  #nextLine: number;
  #open = true;

  constructor(watcher: Watcher, response: ServerResponse, server: Listening | undefined) {
    this.#watcher = watcher;
    this.#response = response;
    this.#server = server;
    this.#unknown = new Set(watcher.board.names);
    this.#nextLine = Math.max(0, watcher.history.next - FIRST_LINES);
    response.on('drain', () => {
      this.#open = true;
      if (this.#unknown.size > 0) this.pump();
    });
  }

  /** `alike` has the messages of this look for pages that know all before it. */
  tell({ changed, gone, beaten }: Pick<Change, 'changed' | 'gone' | 'beaten'>, alike: Alike): void {
    // A server that has stopped listening waits for its connections to end.
    if (this.#server?.listening === false) return this.end();
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
    this.pump();
  }

  /** Writes rows that the page does not know, while the connection takes them. */
  pump(): void {
    while (this.#open) {
      const names = [...take(this.#unknown, ROWS_AT_ONCE)];
      const gone = names.filter((name) => this.#watcher.board.row(name) === undefined);
      const more = this.#unknown.size > 0;
      this.#write(textOf({ ...this.#frame(names), gone, more: more || !this.#watcher.hasLooked }));
      if (!more) return;
    }
  }

  end(): void {
    this.#response.end();
  }

  #frame(names: readonly string[]): Frame {
    const { board, history } = this.#watcher;
    const rows = names.flatMap((name) => board.row(name) ?? []);
    return { ...this.#watcher.frame(), rows, told: history.since(this.#nextLine) };
  }

  #beats(names: readonly string[]): Frame['beats'] {
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

type Alike = Map<number, string>;

/** JSON has no line breaks, which would end the message. */
function textOf(frame: Frame): string {
  return `data: ${JSON.stringify(frame)}\n\n`;
}

/** Takes out the first so many. */
function* take(names: Set<string>, most: number): Generator<string> {
  let taken = 0;
  for (const name of names) {
    if (taken === most) return;
    names.delete(name);
    taken += 1;
    yield name;
  }
}

function serverOf({ socket }: IncomingMessage): Listening | undefined {
  return (socket as typeof socket & { readonly server?: Listening }).server;
}
