/**
 * The claims of this process that want to be woken, and how news reaches other processes.
 *
 * Watching costs one entry in a map. Nothing is opened before a claim waits, or has held for so
 * long that another may come to wait for it; from then on this process listens at its wake file. It
 * wakes its own claims directly. It looks at the database for each hint, so a claim learns what is
 * true now, not what was true when the hint was sent.
 */

import { toText } from '../../clients/sql/name-text.ts';
import type { Claim, ClaimStatus, Wake } from '../../contract/store.ts';
import { grouped } from '../grouped.ts';
import type { Seen, Told } from './steps.ts';
import { WakeFile, type WatchFile } from './wake-file.ts';

/** Locks that are held for less than this, in ms, need no news of waiters. */
const LISTEN_AFTER_MS = 50;

/** One object for each claim that is watched. */
class Watch implements AsyncDisposable {
  waiting = false;
  readonly claim: Claim;
  readonly wake: Wake;
  readonly #watches: Map<string, Watch>;

  constructor(watches: Map<string, Watch>, claim: Claim, wake: Wake) {
    this.#watches = watches;
    this.claim = claim;
    this.wake = wake;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#watches.get(this.claim.id) === this) this.#watches.delete(this.claim.id);
  }
}

interface Parts {
  readonly watchFile: WatchFile;
  /** The path of the database; read once it is open. */
  readonly database: () => string;
  /** Those of them that are still there. */
  readonly look: (told: readonly Told[]) => Promise<ReadonlyMap<Told, Seen>>;
  /** Addresses of live claims. */
  readonly inUse: () => Promise<ReadonlySet<string>>;
  /** The place of a claim of this process. */
  readonly seqOf: (id: string) => number | undefined;
}

export class Wakes {
  readonly #file: WakeFile;
  readonly #parts: Parts;
  readonly #watches = new Map<string, Watch>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { database, inUse, watchFile: watch } = parts;
    this.#file = new WakeFile({
      database,
      inUse,
      watch,
      received: (told) => void this.#received(told),
      waiting: () => [...this.#watches.values()].some((each) => each.waiting),
    });
  }

  /** Where this process listens, or will. */
  get address(): string {
    return this.#file.address;
  }

  watch(claim: Claim, wake: Wake): AsyncDisposable {
    const watch = new Watch(this.#watches, claim, wake);
    this.#watches.set(claim.id, watch);
    return watch;
  }

  /** Called after a reply: waiters listen at once, holders only if they go on holding. */
  note(claims: readonly Claim[], statuses: readonly ClaimStatus[]): void {
    if (this.#watches.size === 0) return;
    let waiting = false;
    claims.forEach(({ id }, i) => {
      const watch = this.#watches.get(id);
      if (!watch) return;
      watch.waiting = statuses[i]?.state === 'waiting';
      waiting ||= watch.waiting;
    });
    if (waiting) this.#file.listen();
    else if (!this.#file.listening) this.#listenLater();
  }

  /** Called after the commit: wakes claims of this process directly, others through their files. */
  tell(told: readonly Told[]): void {
    for (const [address, those] of grouped(told, (each) => each.address)) {
      if (address === this.address) queueMicrotask(() => void this.#received(those));
      else this.#file.send(address, those);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#watches.clear();
    this.#file.close();
  }

  async #received(told: readonly Told[]): Promise<void> {
    if (this.#watches.size === 0) return;
    // If the file cannot be read, the claims are woken all the same, and ask.
    const seen = await this.#parts.look(told).catch(() => new Map<Told, Seen>());
    for (const { id, status } of seen.values()) {
      const watch = this.#watches.get(id);
      if (!watch) continue;
      watch.waiting = status.state === 'waiting';
      watch.wake('leftMs' in status && status.leftMs > 0 ? status : undefined);
    }
    const missing = told.filter((each) => !seen.has(each)).map(keyOf);
    if (missing.length > 0) this.#wakeMissing(new Set(missing));
  }

  /** Wakes claims that have left their queue; they learn why when they ask. */
  #wakeMissing(missing: ReadonlySet<string>): void {
    for (const { claim, wake } of [...this.#watches.values()]) {
      const seq = this.#parts.seqOf(claim.id);
      if (seq && missing.has(keyOf({ seq, resource: toText(claim.resource) }))) wake();
    }
  }

  #listenLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#watches.size > 0) this.#file.listen();
    }, LISTEN_AFTER_MS).unref();
  }
}

function keyOf({ seq, resource }: Pick<Told, 'seq' | 'resource'>): string {
  return `${seq} ${resource}`;
}
