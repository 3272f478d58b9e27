/**
 * The claims of this process that want to be woken, and how wakes reach other processes.
 *
 * Watching costs one entry in a map. Nothing is opened before a claim waits, or has held for so
 * long that another may come to wait for it; from then on this process listens at its wake file. It
 * wakes its own claims directly. A wake-up carries the claim's new status and names its commit, so
 * the next holder goes on without a look at the database. Lines may be appended in another order,
 * so one that is older than the last known status of its claim is ignored.
 * What would break it: a time that is not in the order of the commits, as without the write lock. A
 * lone claim has such a time (quiet.ts), but nothing is said of it before its commit.
 */
import { type Clock, type Timer, timers } from '../../base/clock.ts';
import { WakeFile, type WatchFile } from '../../clients/sqlite/wake-file.ts';
import type { Claim, ClaimStatus, Wake } from '../../contract/store.ts';
import { grouped } from '../batch.ts';
import { statusIn } from '../status-lines.ts';
import { entered, type Subscription } from '../subscription.ts';
import type { ClaimWake } from './queues.ts';

/** Locks that are held for less than this, in ms, need no wakes for waiters. */
const LISTEN_AFTER_MS = 50;

interface ClaimWatch {
  readonly wake: Wake;
  /** When its last known state was true. */
  at: number;
}

type WakeLine = Omit<ClaimWake, 'address'>;

export class SqliteWakes {
  readonly #file: WakeFile;
  readonly #watches = new Map<string, ClaimWatch>();
  readonly #clock: Clock;
  #timer: Timer | undefined;

  /** `database`: the path of the database; read once it is open. */
  constructor(database: () => string, watch: WatchFile, clock: Clock) {
    this.#clock = clock;
    const received = (lines: readonly string[]): void => this.#received(lines.flatMap(parse));
    this.#file = new WakeFile({ database, watch, received });
  }

  /** Where this process listens, or will. */
  get address(): string {
    return this.#file.address;
  }

  watch({ id }: Claim, wake: Wake): Subscription {
    return entered(this.#watches, id, { wake, at: 0 });
  }

  /** Called after a reply: waiters listen at once, holders only if they go on holding. */
  note(claims: readonly Claim[], statuses: readonly ClaimStatus[], at: number): void {
    if (this.#watches.size === 0) return;
    for (const { id } of claims) {
      const watch = this.#watches.get(id);
      if (watch && watch.at < at) watch.at = at;
    }
    if (statuses.some(({ state }) => state === 'waiting')) this.#file.listen();
    else if (!this.#file.listening) this.#listenLater();
  }

  /** Called after the commit: wakes claims of this process directly, others through their files. */
  send(wakes: readonly ClaimWake[]): void {
    for (const [address, those] of grouped(wakes, (each) => each.address)) {
      if (address === this.address) timers.queueMicrotask(() => this.#received(those));
      else
        this.#file.send(
          address,
          those.map(({ id, at, said }) => JSON.stringify([id, at, said])),
        );
    }
  }

  close(): void {
    if (this.#timer) this.#clock.clearTimeout(this.#timer);
    this.#watches.clear();
    this.#file.close();
  }

  #received(all: readonly WakeLine[]): void {
    for (const { id, at, said } of all) {
      const watch = this.#watches.get(id);
      if (!watch || at < watch.at) continue;
      watch.at = at;
      const status = said === '?' ? undefined : statusIn(said);
      watch.wake(status && 'leftMs' in status && status.leftMs > 0 ? status : undefined);
    }
  }

  #listenLater(): void {
    if (this.#timer) return;
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined;
      if (this.#watches.size > 0) this.#file.listen();
    }, LISTEN_AFTER_MS);
    this.#timer.unref();
  }
}

/** Later versions may add to a line; one that makes no sense is passed over. */
function parse(line: string): WakeLine[] {
  try {
    const [id, at, said] = JSON.parse(line) as [string, number, string];
    return [{ id, at, said }];
  } catch {
    return [];
  }
}
