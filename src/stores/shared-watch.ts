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
export interface Feed extends AsyncIterable<string> {
  close(): Promise<unknown>;
}

/** Before a broken feed is opened anew, in ms: each is told to all watches. */
const PAUSE_MS = 1000;

interface Session {
  /** Opens the first feed. */
  readonly opened: Promise<Feed>;
  feed?: Feed | undefined;
  over: boolean;
}

export class SharedWatch {
  readonly #open: () => Promise<Feed>;
  readonly #watches = new Map<string, Set<() => void>>();
  #session: Session | undefined;

  constructor(open: () => Promise<Feed>) {
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

  #begin(): Session {
    const session: Session = { opened: this.#open(), over: false };
    session.opened.then(
      (feed) => this.#follow(session, feed),
      () => {
        if (this.#session === session) this.#session = undefined;
      },
    );
    return session;
  }

  async #follow(session: Session, first: Feed): Promise<void> {
    let feed: Feed | undefined = first;
    while (!session.over) {
      session.feed = feed;
      if (feed) await this.#tell(feed).catch(() => {});
      await closed(feed);
      if (session.over) return;
      await sleep(PAUSE_MS, undefined, { ref: false });
      feed = session.over ? undefined : await this.#open().catch(() => undefined);
      if (feed && !session.over) this.#tellAll();
    }
    await closed(feed);
  }

  async #tell(feed: Feed): Promise<void> {
    for await (const key of feed) for (const watch of this.#watches.get(key) ?? []) watch();
  }

  #tellAll(): void {
    for (const watches of this.#watches.values()) for (const watch of watches) watch();
  }
}

/** One that is broken fails to close, and is closed. */
async function closed(feed: Feed | undefined): Promise<void> {
  await feed?.close().catch(() => {});
}
