/**
 * The one watcher of a store, however many pages are open: it looks at all queues again and again
 * while there is a page, and sends every page the differences.
 *
 * Between two looks it waits for at least as long as the last one took, so that it keeps a store
 * with many resources busy for no more than half of the time.
 */
import { sleep } from '../base/clock.ts';
import { isLockError, messageOf, UsageError } from '../base/errors.ts';
import { show } from '../base/show.ts';
import type { Queue } from '../contract/store.ts';
import type { Engine } from '../core/engine.ts';
import type { Locks } from '../locks.ts';
import { allNotes, hasNotes } from '../operators/deadlocks/notes.ts';
import { list } from '../operators/list.ts';
import { queuesOf } from '../operators/queues.ts';
import { Board, type BoardChange, MAX_LABEL } from './board.ts';
import { History } from './history.ts';
import type { BoardFrame, QueueWait, Report, Who } from './wire.ts';

/** Most resources that are read and shown. */
export const MAX_RESOURCES = 20_000;

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
  send(change: Pick<BoardChange, 'changed' | 'gone' | 'beaten'>): void;
  close(): void;
}

export class StoreWatcher {
  readonly board: Board = new Board();
  readonly history: History = new History();
  readonly #parts: WatcherParts;
  #hasLooked = false;
  #away: string | null = null;
  #cut = 0;
  #quarantineMs: number | null = null;
  #waits: readonly QueueWait[] = [];
  #running: AbortController | undefined;

  constructor(parts: WatcherParts) {
    this.#parts = parts;
  }

  get prefix(): string {
    return this.#parts.prefix;
  }

  /** What is beyond the prefix is not for those who are let in. @throws UsageError */
  checkShown(name: string): void {
    if (!name.startsWith(this.prefix)) throw new UsageError('This name is not shown here.');
  }

  /** Whether the resource, prefix of its locks included, is one that is shown. */
  shows(resource: string): boolean {
    const own = this.#parts.engine.services.settings.prefix;
    return resource.startsWith(own + this.prefix) && resource !== own;
  }

  /** An event of a process's locks; what is beyond the prefix is neither shown nor counted. */
  report(report: Report, by: Who, at: number): void {
    if (!this.shows(report.resource)) return;
    const name = report.resource.slice(this.#parts.engine.services.settings.prefix.length);
    this.history.report(name, report, by, at);
  }

  /** Looks until `stop`, and sends the changes to these listeners. */
  start(listeners: Listeners): void {
    if (this.#running) return;
    this.#running = new AbortController();
    // It does not know when things happened while no page was open.
    this.board.clear();
    this.#hasLooked = false;
    this.#waits = [];
    this.#away = this.#quarantineMs = null;
    this.#cut = 0;
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
    const { engine, readOnly } = this.#parts;
    return {
      ...{ now, store: engine.services.calls.store.name, readOnly, away: this.#away },
      ...{
        quarantineMs: this.#quarantineMs,
        cut: this.#cut,
        rates: this.history.rates(now),
        waits: this.#waits,
        more: !this.#hasLooked,
      },
      ...{ rows: [], gone: [], beats: [], told: [] },
    };
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
        this.#away = trouble(error);
        listeners.send({ changed: [], gone: [], beaten: [] });
        if (isLockError(error, 'CLOSED')) listeners.close();
      }
      await sleep(clock, Math.max(everyMs, clock.now() - began), signal);
    }
  }

  async #look(listeners: Listeners, signal: AbortSignal): Promise<void> {
    const { locks, prefix } = this.#parts;
    const names: string[] = [];
    let cut = 0;
    for await (const name of list(locks, prefix)) {
      if (names.length < MAX_RESOURCES) names.push(name);
      else cut += 1;
    }
    const queues = await queuesOf(locks, names);
    const waits = await this.#published();
    if (signal.aborted) return;
    this.#away = null;
    this.#cut = cut;
    this.#quarantineMs = quarantineOf(queues.values());
    this.#waits = waits;
    const now = Date.now();
    const change = this.board.take(queues, now);
    if (this.#hasLooked) this.history.conclude(change, (name) => this.board.row(name), now);
    this.#hasLooked = true;
    listeners.send(change);
  }

  /** The waits that tasks publish, without what is beyond the prefix. */
  async #published(): Promise<readonly QueueWait[]> {
    const { engine, prefix } = this.#parts;
    if (!hasNotes(engine.services.calls.store)) return [];
    const notes = await allNotes(engine);
    const own = engine.services.settings.prefix;
    const shown = notes.filter(({ resource }) => resource.startsWith(own + prefix));
    return shown.slice(0, MAX_WAITS).map(({ id, resource, holder, holds, told }) => {
      const { host, pid, label } = holder;
      return {
        ...{ id, host, pid, label: label?.slice(0, MAX_LABEL) ?? null, deadlocked: told === true },
        name: resource.slice(own.length),
        holds: holds
          .filter((hold) => hold.resource.startsWith(own + prefix))
          .map((hold) => ({ name: hold.resource.slice(own.length), token: String(hold.token) })),
      };
    });
  }
}

function quarantineOf(queues: Iterable<Queue>): number | null {
  const all = [...queues].flatMap(({ quarantineMs }) => quarantineMs ?? []);
  return all.length > 0 ? all.reduce((most, ms) => Math.max(most, ms)) : null;
}

/** Without the password of a URL, which an error may cite. */
function trouble(error: unknown): string {
  const message = messageOf(error);
  return message.replace(/\/\/[^\s/]*@/g, '//');
}
