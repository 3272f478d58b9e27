/**
 * The one watcher of a store, however many pages are open: it looks at all queues again and again
 * while there is a page, and sends every page the differences. The first look sends rows as it
 * reads them, so that a page of many resources is not empty until its end.
 *
 * Between two looks it waits for at least as long as the last one took, so that it keeps a store
 * with many resources busy for no more than half of the time.
 */
import { sleep } from '../base/clock.ts';
import { isLockError, messageOf, UsageError } from '../base/errors.ts';
import { show } from '../base/show.ts';
import type { Engine } from '../core/engine.ts';
import type { Locks } from '../locks.ts';
import { allNotes, hasNotes } from '../operators/deadlocks/notes.ts';
import { list, queuesOf } from '../operators/list.ts';
import { Board, type BoardNews, rowOf, whoOf } from './board.ts';
import { History } from './history.ts';
import type { BoardFrame, QueueRow, QueueWait, Report, Who } from './wire.ts';

/** Most resources that are read and shown. */
export const MAX_RESOURCES = 20_000;

/** Rows in one message; as many are read before the first look sends them. */
export const ROWS_AT_ONCE = 500;

/** A page waits for a message for this long beyond three looks, in ms: a look may take a while. */
const QUIET_MS = 60_000;

/** Most published waits that are shown, the longest. */
const MAX_WAITS = 200;

export interface WatcherParts {
  readonly locks: Locks;
  readonly engine: Engine;
  readonly prefix: string;
  readonly everyMs: number;
  readonly readOnly: boolean;
}

/** Who gets the events. */
export interface Listeners {
  send(news: BoardNews): void;
  close(): void;
}

/** What the last look found, beside queues. */
type Seen = Pick<BoardFrame, 'away' | 'quarantineMs' | 'cut' | 'waits' | 'more'>;

const UNSEEN: Seen = { away: null, quarantineMs: null, cut: 0, waits: [], more: true };

export class StoreWatcher {
  readonly board: Board = new Board();
  readonly history: History = new History();
  readonly #parts: WatcherParts;
  #seen: Seen = UNSEEN;
  #running: AbortController | undefined;

  constructor(parts: WatcherParts) {
    this.#parts = parts;
  }

  /** What is beyond the prefix is not for those who are let in. @throws UsageError */
  checkShown(name: string): void {
    if (name.startsWith(this.#parts.prefix)) return;
    throw new UsageError('This name is not shown here.');
  }

  /** An event of these locks; what is beyond the prefix is neither shown nor counted. */
  report(report: Report, by: Who): void {
    const name = this.#nameOf(report.resource);
    if (name !== undefined) this.history.report(name, report, by, Date.now());
  }

  /** Without the prefix of these locks; undefined if it is not shown. */
  #nameOf(resource: string): string | undefined {
    const { engine, prefix } = this.#parts;
    const own = engine.services.settings.prefix;
    const isShown = resource.startsWith(own + prefix) && resource !== own;
    return isShown ? resource.slice(own.length) : undefined;
  }

  /** Looks until `stop`, and sends the changes to these listeners. */
  start(listeners: Listeners): void {
    if (this.#running) return;
    this.#running = new AbortController();
    // It does not know when things happened while no page was open.
    this.board.clear();
    this.#seen = UNSEEN;
    this.#run(listeners, this.#running.signal).catch((error: unknown) =>
      process.emitWarning(`The dashboard stopped looking: ${show(error)}`),
    );
  }

  stop(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  /** A message without rows. */
  frame(): BoardFrame {
    const now = Date.now();
    const { engine, readOnly, everyMs } = this.#parts;
    const store = engine.services.calls.store.name;
    const none = { rows: [], gone: [], beats: [], told: [] };
    const [rates, quietMs] = [this.history.rates(now), QUIET_MS + 3 * everyMs];
    return { now, store, readOnly, rates, quietMs, ...this.#seen, ...none };
  }

  async #run(listeners: Listeners, signal: AbortSignal): Promise<void> {
    const { engine, everyMs } = this.#parts;
    const { clock } = engine.services;
    while (!signal.aborted) {
      const began = clock.now();
      try {
        await this.#look(listeners, signal);
      } catch (error) {
        if (signal.aborted) return;
        // Without the password of a URL, which an error may cite.
        this.#seen = { ...this.#seen, away: messageOf(error).replace(/\/\/[^\s/]*@/g, '//') };
        listeners.send({ changed: [], gone: [], beaten: [] });
        if (isLockError(error, 'CLOSED')) listeners.close();
      }
      await sleep(clock, Math.max(everyMs, clock.now() - began), signal);
    }
  }

  async #look(listeners: Listeners, signal: AbortSignal): Promise<void> {
    const { locks, prefix } = this.#parts;
    const rows = new Map<string, QueueRow>();
    let [unread, cut, quarantineMs]: [string[], number, number | null] = [[], 0, null];
    const read = async (names: readonly string[]): Promise<ReadonlyMap<string, QueueRow>> => {
      unread = [];
      const found = new Map<string, QueueRow>();
      const queues = await queuesOf(locks, names);
      const now = Date.now();
      for (const [name, queue] of queues) {
        found.set(name, rowOf(name, queue, now));
        quarantineMs = Math.max(quarantineMs ?? 0, queue.quarantineMs ?? 0) || null;
      }
      for (const [name, row] of found) rows.set(name, row);
      return found;
    };
    for await (const name of list(locks, prefix)) {
      if (rows.size + unread.length < MAX_RESOURCES) unread.push(name);
      else cut += 1;
      if (unread.length < ROWS_AT_ONCE) continue;
      const found = await read(unread);
      if (this.#seen.more && !signal.aborted) listeners.send(this.board.add(found));
    }
    await read(unread);
    const waits = await this.#published();
    if (signal.aborted) return;
    const change = this.board.take(rows);
    if (!this.#seen.more) this.history.conclude(change, (name) => this.board.row(name), Date.now());
    this.#seen = { away: null, quarantineMs, cut, waits, more: false };
    listeners.send(change);
  }

  /** The waits that tasks publish, without what is beyond the prefix. */
  async #published(): Promise<readonly QueueWait[]> {
    const { engine } = this.#parts;
    if (!hasNotes(engine.services.calls.store)) return [];
    const shown = (await allNotes(engine)).flatMap((note): QueueWait[] => {
      const name = this.#nameOf(note.resource);
      if (name === undefined) return [];
      const holds = note.holds.flatMap(({ resource, token }) => {
        const held = this.#nameOf(resource);
        return held === undefined ? [] : { name: held, token: String(token) };
      });
      return [{ id: note.id, ...whoOf(note.holder), deadlocked: note.told === true, name, holds }];
    });
    return shown.slice(0, MAX_WAITS);
  }
}
