import type { Clock } from 'holdfast';
import type { Documents } from 'holdfast/document';

export interface ShelfOptions {
  readonly clock: Clock;
  /** How long a request, and how long a reply, is under way, in ms; default not at all. */
  readonly latencyMs?: () => number;
  /** How far the times that it tells may differ, in ms; undefined: it tells none. */
  readonly slackMs?: number | undefined;
  /** It tells of changes. */
  readonly watches?: boolean;
}

/** A service that keeps texts: linearizable, with versions, and all that a service may have. */
export class Shelf {
  readonly texts: Map<string, { readonly text: string; readonly version: string }> = new Map();
  readonly #options: ShelfOptions;
  readonly #watchers = new Set<{ readonly key: string; readonly changed: () => void }>();
  #versions = 0;
  /** Requests so far. */
  requests = 0;

  constructor(options: ShelfOptions) {
    this.#options = options;
  }

  connect(): Documents {
    const { slackMs, watches } = this.#options;
    return {
      name: 'shelf',
      ...(slackMs !== undefined && { slackMs }),
      get: (key) => this.#carry(() => this.get(key)),
      put: (key, text, onto) => this.#carry(() => this.put(key, text, onto)),
      remove: (key, version) => this.#carry(() => this.remove(key, version)),
      list: (prefix) => this.#list(prefix),
      ...(watches && { watch: (key, changed) => this.#carry(() => this.#watch(key, changed)) }),
    };
  }

  get(key: string): { text?: string; version?: string; nowMs?: number } {
    return { ...this.texts.get(key), ...this.#time() };
  }

  put(
    key: string,
    text: string,
    onto: string | undefined,
  ): { version: string; nowMs?: number } | 'other' {
    if (this.texts.get(key)?.version !== onto) return 'other';
    const version = `v${++this.#versions}`;
    this.texts.set(key, { text, version });
    this.#tell(key);
    return { version, ...this.#time() };
  }

  remove(key: string, version: string): void {
    if (this.texts.get(key)?.version === version) this.texts.delete(key);
  }

  #time(): { nowMs?: number } {
    const { clock, slackMs } = this.#options;
    return slackMs === undefined ? {} : { nowMs: 1_700_000_000_000 + clock.now() };
  }

  async *#list(prefix: string): AsyncGenerator<string, void, void> {
    for (const key of [...this.texts.keys()]) if (key.startsWith(prefix)) yield key;
  }

  #watch(key: string, changed: () => void): AsyncDisposable {
    const watcher = { key, changed };
    this.#watchers.add(watcher);
    return { [Symbol.asyncDispose]: async () => void this.#watchers.delete(watcher) };
  }

  #tell(changed: string): void {
    for (const { key, changed: tell } of this.#watchers) {
      if (key === changed) void this.#carry(tell);
    }
  }

  /** There, and back again. */
  async #carry<T>(act: () => T): Promise<T> {
    this.requests++;
    await this.#travel();
    const reply = act();
    await this.#travel();
    return reply;
  }

  #travel(): Promise<void> {
    const ms = this.#options.latencyMs?.() ?? 0;
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve) => void this.#options.clock.setTimeout(resolve, ms));
  }
}
