/**
 * The verbs of the store: each is one write transaction, repeated while the file is busy, and then
 * the wake-ups.
 *
 * The file is opened by the first verb. If it has been replaced or deleted since, which a heartbeat
 * notices, this process's claims were in a file that nobody else will ever see again: they are
 * reported as lost to a store reset, and the new file is opened.
 */
import { statSync } from 'node:fs';
import { ClosedError, StoreError } from '../../errors.ts';
import type { Claim, ClaimStatus, Queue, Store, Traits, Wake } from '../../store.ts';
import { Client, openClient, type SqliteDatabase, untilFree } from './client.ts';
import { refuseNetwork } from './filesystem.ts';
import { joinFile } from './layout.ts';
import type { Machine } from './machine.ts';
import { fromText, next, toText } from './names.ts';
import { Queues } from './queues.ts';
import type { Told } from './rows.ts';
import { prepareAll, type Row } from './statements.ts';
import { WakeFile, type WatchFile } from './wake-file.ts';

export interface SqliteParts {
  readonly file: string;
  /** The program's own object; it is never closed here. */
  readonly database?: SqliteDatabase | undefined;
  readonly maxWaiters: number;
  readonly busyMs: number;
  readonly trustFileSystem: boolean;
  readonly machine: Machine;
  readonly watchFile: WatchFile;
}

const TRAITS: Traits = {
  queue: true,
  tokens: 'machine-clock',
  atomicTry: true,
  liveness: 'ttl',
  clock: 'machine',
  failover: 'none',
  reach: 'machine',
  records: false,
  ttlStepMs: 1,
  synchronous: true,
  sequential: true,
  hintsGrant: true,
};

const SWEEP_US = 60_000_000;

/** How often a claim looks whether the file is still the same; heartbeats always do. */
const LOOK_US = 1_000_000;

/** Locks that are held for less than this need no ear for waiters. */
const LISTEN_AFTER_MS = 50;

const LIST_PAGE = 100;

interface Opened {
  readonly client: Client;
  readonly queues: Queues;
  readonly identity: string;
  readonly lineage: string;
}

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

export class SqliteStore implements Store {
  readonly name = 'sqlite';
  readonly traits: Traits = TRAITS;
  readonly #parts: SqliteParts;
  readonly #watches = new Map<string, Watch>();
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  #wakeFile: WakeFile | undefined;
  /** Claims of this process that were in a file which is gone. */
  readonly #lost = new Set<string>();
  #closed = false;
  #sweptAt = 0;
  #lookedAt = 0;
  #listenTimer: NodeJS.Timeout | undefined;

  constructor(parts: SqliteParts) {
    this.#parts = parts;
  }

  get lineage(): string {
    return this.#opened?.lineage ?? 'sqlite';
  }

  async claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    if (this.#opened && this.#parts.machine.nowUs() - this.#lookedAt > LOOK_US) this.#look();
    const statuses = await this.#step((queues) => {
      this.#sweep(queues);
      return queues.claim(claims);
    });
    this.#note(claims, statuses);
    return statuses;
  }

  async renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    if (this.#opened) this.#look();
    const statuses = await this.#step((queues) => {
      this.#sweep(queues);
      return queues.renew(claims);
    });
    this.#note(claims, statuses);
    return statuses;
  }

  async release(
    claims: readonly Claim[],
    after?: { readonly ms: number },
  ): Promise<readonly boolean[]> {
    const [only] = claims;
    if (only && claims.length === 1 && !after && (await this.#leaveAlone(only))) return [true];
    return this.#step((queues) => queues.release(claims, after?.ms ?? 0));
  }

  async inspect(resource: string): Promise<Queue> {
    return this.#step((queues) => queues.inspect(resource));
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const watch = new Watch(this.#watches, claim, wake);
    this.#watches.set(claim.id, watch);
    return watch;
  }

  async downgrade(claim: Claim): Promise<ClaimStatus> {
    return this.#step((queues) => queues.downgrade(claim));
  }

  async evict(
    resource: string,
    number: bigint,
    options: { readonly reason: string; readonly now: boolean },
  ): Promise<boolean> {
    return this.#step((queues) => queues.evict(resource, number, options.now));
  }

  async *list(prefix: string): AsyncIterable<string> {
    for (let from = toText(prefix); ; ) {
      const { queues, client } = this.#opened ?? (await this.#open());
      const { busyMs } = this.#parts;
      const page = await untilFree(client.file, busyMs, () => queues.names(from, LIST_PAGE));
      for (const text of page) {
        const name = fromText(text);
        // In the order of bytes, names that begin alike stand together.
        if (!name.startsWith(prefix)) return;
        yield name;
      }
      if (page.length < LIST_PAGE) return;
      from = next(page.at(-1) as string);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#listenTimer);
    await this.#opening?.catch(() => {});
    this.#wakeFile?.close();
    if (!this.#parts.database) this.#opened?.client.close();
    this.#opened = undefined;
  }

  /** Most releases are one statement, which needs no transaction around it on a connection of ours. */
  async #leaveAlone(claim: Claim): Promise<boolean> {
    if (!this.#opened || this.#parts.database) return false;
    const { client, queues } = this.#opened;
    return untilFree(client.file, this.#parts.busyMs, () => queues.leaveAlone(claim));
  }

  /** One transaction, then the wake-ups. */
  async #step<T>(work: (queues: Queues) => T): Promise<T> {
    const { client, queues } = this.#opened ?? (await this.#open());
    const result = await untilFree(client.file, this.#parts.busyMs, () => {
      if (this.#closed) throw new ClosedError('This store is closed');
      queues.rows.told = [];
      return client.transaction(() => work(queues));
    });
    const { told } = queues.rows;
    if (told.length > 0) this.#tell(told);
    return result;
  }

  #open(): Promise<Opened> {
    if (this.#closed) return Promise.reject(new ClosedError('This store is closed'));
    this.#opening ??= this.#join().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #join(): Promise<Opened> {
    const { file, database, busyMs, machine, maxWaiters } = this.#parts;
    if (!this.#parts.trustFileSystem) refuseNetwork(file);
    const client = database ? new Client(database) : await openClient(file, busyMs);
    try {
      const lineage = await untilFree(file, busyMs, () =>
        client.transaction(() => joinFile(client, machine)),
      );
      this.#wakeFile ??= this.#newWakeFile(client.file);
      const { address } = this.#wakeFile;
      const statements = await untilFree(file, busyMs, () => prepareAll(client));
      const queues = new Queues({ statements, machine, address, maxWaiters, lost: this.#lost });
      this.#opened = { client, queues, lineage, identity: identityOf(client.file) };
      this.#sweptAt = 0;
      return this.#opened;
    } catch (error) {
      if (!database) client.close();
      throw error;
    }
  }

  #newWakeFile(file: string): WakeFile {
    return new WakeFile({
      directory: `${file}-wake`,
      watch: this.#parts.watchFile,
      received: (told) => this.#received(told),
      waiting: () => [...this.#watches.values()].some((watch) => watch.waiting),
      inUse: () => this.#opened?.queues.addresses() ?? new Set(),
    });
  }

  /** Opens the file anew if it is no longer the one that was opened. */
  #look(): void {
    if (!this.#opened) return;
    this.#lookedAt = this.#parts.machine.nowUs();
    const { client, queues, identity } = this.#opened;
    if (identityOf(client.file) === identity) return;
    if (this.#parts.database) {
      throw new StoreError(
        `The lock database ${client.file} was replaced under the database object. Open it anew.`,
        { retryable: false, outcome: 'failed' },
      );
    }
    for (const id of queues.rows.seqs.keys()) this.#lost.add(id);
    this.#opened = undefined;
    client.close();
  }

  /** What need not be done at every step. */
  #sweep(queues: Queues): void {
    const now = this.#parts.machine.nowUs();
    if (this.#sweptAt > 0 && now - this.#sweptAt < SWEEP_US) return;
    this.#sweptAt = now;
    queues.sweep();
  }

  /** Tells those who listen here directly, and others through their files. */
  #tell(told: readonly Told[]): void {
    const addresses = new Map<string, Told[]>();
    for (const each of told) {
      const others = addresses.get(each.address);
      if (others) others.push(each);
      else addresses.set(each.address, [each]);
    }
    for (const [address, those] of addresses) {
      if (address === this.#wakeFile?.address) queueMicrotask(() => this.#received(those));
      else this.#wakeFile?.send(address, those);
    }
  }

  #received(told: readonly Told[]): void {
    if (!this.#opened) return;
    const { queues } = this.#opened;
    let seen: ReadonlyMap<Row, ClaimStatus> = new Map();
    try {
      seen = queues.look(told);
    } catch {
      // Without knowing what it is about, they are woken all the same, and ask.
    }
    const found = new Set<string>();
    for (const [row, status] of seen) {
      found.add(`${row.seq} ${row.resource}`);
      const watch = this.#watches.get(row.id);
      if (!watch) continue;
      watch.waiting = status.state === 'waiting';
      watch.wake('leftMs' in status && status.leftMs > 0 ? status : undefined);
    }
    const missing = told.filter(({ seq, resource }) => !found.has(`${seq} ${resource}`));
    if (missing.length === 0) return;
    for (const { claim, wake } of [...this.#watches.values()]) {
      if (
        missing.some(
          (each) =>
            each.seq === queues.rows.seqs.get(claim.id) && each.resource === toText(claim.resource),
        )
      )
        wake();
    }
  }

  /** Listens where somebody may have something to tell: at once for waiters, later for holders. */
  #note(claims: readonly Claim[], statuses: readonly ClaimStatus[]): void {
    if (this.#watches.size === 0) return;
    let waiting = false;
    claims.forEach(({ id }, i) => {
      const watch = this.#watches.get(id);
      if (!watch) return;
      watch.waiting = statuses[i]?.state === 'waiting';
      waiting ||= watch.waiting;
    });
    if (waiting) this.#wakeFile?.listen();
    else if (!this.#wakeFile?.listening) this.#listenLater();
  }

  #listenLater(): void {
    this.#listenTimer ??= setTimeout(() => {
      this.#listenTimer = undefined;
      if (this.#watches.size > 0) this.#wakeFile?.listen();
    }, LISTEN_AFTER_MS).unref();
  }
}

/** Which file stands at this path; empty if none does. */
function identityOf(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? `${stats.dev}:${stats.ino}` : '';
}
