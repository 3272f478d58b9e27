/**
 * Who in this process wants to be woken, and how news reaches others.
 *
 * Watching costs one entry in a map. Nothing is opened before somebody waits, or has held for so
 * long that somebody may come to wait for it; from then on this process listens at its wake file.
 * Claims of this process are told directly. Whoever is told looks at the database, so a hint says
 * what is true now, not what was true when it was sent.
 */
import type { Claim, ClaimStatus, Wake } from '../../contract/store.ts';
import { toText } from '../name-text.ts';
import type { Told } from './rows.ts';
import type { Row } from './statements.ts';
import { WakeFile, type WatchFile } from './wake-file.ts';

/** Locks that are held for less than this, in ms, do not have to hear of waiters. */
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
  /** The path of the database; asked for once it is open. */
  readonly database: () => string;
  /** What has become of these claims. */
  readonly look: (told: readonly Told[]) => Promise<ReadonlyMap<Row, ClaimStatus>>;
  /** Addresses of live claims. */
  readonly inUse: () => Promise<ReadonlySet<string>>;
  /** Where a claim of this process stands. */
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

  /** After an answer: waiters listen at once, holders only if they go on holding. */
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

  /** After the commit: those who listen here directly, others through their files. */
  tell(told: readonly Told[]): void {
    const byAddress = new Map<string, Told[]>();
    for (const each of told) {
      const others = byAddress.get(each.address);
      if (others) others.push(each);
      else byAddress.set(each.address, [each]);
    }
    for (const [address, those] of byAddress) {
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
    const missing = new Map(told.map((each) => [keyOf(each), each]));
    // If the file cannot be read, they are woken all the same, and ask.
    const seen = await this.#parts.look(told).catch(() => new Map<Row, ClaimStatus>());
    for (const [row, status] of seen) {
      const watch = this.#watches.get(row.id);
      missing.delete(keyOf(row));
      if (!watch) continue;
      watch.waiting = status.state === 'waiting';
      watch.wake('leftMs' in status && status.leftMs > 0 ? status : undefined);
    }
    if (missing.size > 0) this.#wakeMissing(missing);
  }

  /** Those who are not in their queue any more, which they will be told when they ask. */
  #wakeMissing(missing: ReadonlyMap<string, Told>): void {
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
