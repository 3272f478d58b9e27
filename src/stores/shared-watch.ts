/**
 * One feed of changes for all keys that a process watches: opened with the first watch, closed with
 * the last.
 *
 * Invariant: a change after `watch` has resolved is reported. Either the feed that was open then
 * brings it; or that feed has broken, and once the next one is open, all watches report a change: a
 * reader that looks now sees everything from between the two.
 * What would break it: a feed that claims to be open before it is.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** The keys that change, from its opening on; it ends, or throws, if it breaks. */
export interface ChangeFeed extends AsyncIterable<string> {
  close(): Promise<unknown>;
}

/** Before a broken feed is opened anew, in ms: each wakes all watches. */
const PAUSE_MS = 1000;

interface WatchSession {
  readonly opened: Promise<ChangeFeed>;
  feed?: ChangeFeed | undefined;
  over: boolean;
}

export class SharedWatch {
  readonly #open: () => Promise<ChangeFeed>;
  readonly #watches = new Map<string, Set<() => void>>();
  #session: WatchSession | undefined;

  constructor(open: () => Promise<ChangeFeed>) {
    this.#open = open;
  }

  /** @throws what opening a feed throws. */
  async watch(key: string, changed: () => void): Promise<AsyncDisposable> {
    // Two watches may have the same function.
    const watch = (): void => changed();
    const same = this.#watches.get(key) ?? new Set();
    this.#watches.set(key, same.add(watch));
    const end = async (): Promise<void> => {
      same.delete(watch);
      if (same.size === 0 && this.#watches.get(key) === same) this.#watches.delete(key);
      if (this.#watches.size === 0) await this.close();
    };
    try {
      this.#session ??= this.#begin();
      await this.#session.opened;
    } catch (error) {
      await end();
      throw error;
    }
    return { [Symbol.asyncDispose]: end };
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    if (!session) return;
    session.over = true;
    await closed(session.feed);
  }

  #begin(): WatchSession {
    const session: WatchSession = { opened: this.#open(), over: false };
    session.opened.then(
      (feed) => this.#follow(session, feed),
      () => {
        if (this.#session === session) this.#session = undefined;
      },
    );
    return session;
  }

  async #follow(session: WatchSession, first: ChangeFeed): Promise<void> {
    let feed: ChangeFeed | undefined = first;
    while (!session.over) {
      session.feed = feed;
      if (feed) await this.#deliver(feed).catch(() => {});
      await closed(feed);
      if (session.over) return;
      await sleep(PAUSE_MS, undefined, { ref: false });
      feed = session.over ? undefined : await this.#open().catch(() => undefined);
      if (!feed || session.over) continue;
      for (const watches of this.#watches.values()) for (const watch of watches) watch();
    }
    await closed(feed);
  }

  async #deliver(feed: ChangeFeed): Promise<void> {
    for await (const key of feed) for (const watch of this.#watches.get(key) ?? []) watch();
  }
}

/** One that is broken fails to close, and is closed. */
async function closed(feed: ChangeFeed | undefined): Promise<void> {
  await feed?.close().catch(() => {});
}
