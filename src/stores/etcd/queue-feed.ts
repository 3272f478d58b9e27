/**
 * A queue of keys as it is, and then each change of it, for whoever keeps a picture of it.
 *
 * Invariant: what is known is the queue at one revision, and every change after it comes in order,
 * whole revisions at a time, each once. It holds because the watch is there before the queue is
 * read, what was read is newer than what is left out, and a watch goes on from the revision where
 * it was interrupted. A change may have to wait until the server has answered a question about the
 * one before; then all that follow wait behind it. Where a watch is lost, because the server does
 * not know any more what came in between, the queue is read anew, and `lost` says so before.
 * What would break it: changes of one revision that come in parts, or a watch that skips some.
 */
import type { Takeover } from '../../contract/store.ts';
import type { Change, EtcdClient, Reply } from './client.ts';
import type { KeySpace } from './keys.ts';
import { type Place, placeOf, takeoverIn } from './queue.ts';
import { rangeIn, reading } from './reading.ts';

/** What is to be done once the server has been asked. */
export type Later = Promise<() => void> | undefined;

/** One transaction, as far as it concerns the queue; `places` are already as it left them. */
export interface Step {
  readonly changes: readonly { readonly before: Place | undefined; readonly now?: Place }[];
  /** What it has noted on how a hold ended. */
  readonly noted: Takeover | undefined;
}

export interface FeedParts {
  readonly client: EtcdClient;
  readonly keys: KeySpace;
  readonly resource: string;
  /** The places are those of the queue as it was read. */
  readonly read: () => Later;
  readonly changed: (step: Step) => Later;
  /** Others may have come and gone. It is read again. */
  readonly lost: () => void;
  /** It could not be read, and has stopped. */
  readonly failed: (error: unknown) => void;
}

interface Batch {
  readonly changes: readonly Change[];
  readonly revision: bigint;
}

export class QueueFeed {
  /** In order, for a key that is written again keeps its place. */
  readonly places: Map<string, Place> = new Map();
  readonly #parts: FeedParts;
  readonly #noteKey: string;
  #watcher: Disposable | undefined;
  /** Changes that came before the queue was read, or while the server is asked about one. */
  #pending: Batch[] | undefined;
  #readAt = 0n;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#noteKey = parts.keys.note(parts.resource);
  }

  get open(): boolean {
    return this.#watcher !== undefined;
  }

  /** There may be more to know than what has been told. */
  get behind(): boolean {
    return this.#pending !== undefined;
  }

  start(): void {
    if (this.#watcher) return;
    const { client, keys, resource } = this.#parts;
    this.#pending = [];
    const watcher = client.watch({
      ...keys.queue(resource),
      started: () => void this.#look(watcher, (reply) => this.#read(reply)),
      changed: (changes, revision) => this.#take({ changes, revision }),
      lost: () => this.#restart(watcher),
    });
    this.#watcher = watcher;
  }

  stop(): void {
    this.#watcher?.[Symbol.dispose]();
    this.#watcher = undefined;
  }

  /** A look comes first: it fails where watching is not permitted any more. */
  #restart(watcher: Disposable): void {
    if (this.#watcher !== watcher) return;
    this.#pending = [];
    this.#parts.lost();
    void this.#look(watcher, async () => {
      this.stop();
      this.start();
    });
  }

  async #read({ answers, revision }: Reply): Promise<void> {
    const { keys, resource, read } = this.#parts;
    this.places.clear();
    for (const kv of rangeIn(answers[0])?.kvs ?? []) {
      if (keys.isClaim(resource, kv.key)) this.places.set(kv.key, placeOf(kv));
    }
    this.#readAt = revision;
    const later = read();
    if (later) await this.#wait(later);
    else this.#catchUp();
  }

  /** Never rejects: does this with what is there, unless it is stopped meanwhile. */
  async #look(watcher: Disposable, act: (reply: Reply) => Promise<void>): Promise<void> {
    const { client, keys, resource, failed } = this.#parts;
    try {
      const reply = await client.txn({ success: [reading(keys, resource)] });
      if (this.#watcher === watcher) await act(reply);
    } catch (error) {
      if (this.#watcher !== watcher) return;
      this.stop();
      failed(error);
    }
  }

  #take(batch: Batch): void {
    if (this.#pending) {
      this.#pending.push(batch);
      return;
    }
    const later = this.#parts.changed(this.#apply(batch));
    if (later) void this.#wait(later);
  }

  #apply({ changes }: Batch): Step {
    const { keys, resource } = this.#parts;
    const changed: Step['changes'][number][] = [];
    let noted: Takeover | undefined;
    for (const { deleted, kv } of changes) {
      if (kv.key === this.#noteKey) noted = deleted ? undefined : takeoverIn(kv.value);
      if (!keys.isClaim(resource, kv.key)) continue;
      const before = this.places.get(kv.key);
      if (deleted) {
        this.places.delete(kv.key);
        changed.push({ before });
      } else {
        const now = placeOf(kv);
        this.places.set(kv.key, now);
        changed.push({ before, now });
      }
    }
    return { changes: changed, noted };
  }

  async #wait(later: Promise<() => void>): Promise<void> {
    this.#pending ??= [];
    const watcher = this.#watcher;
    const act = await later;
    if (this.#watcher !== watcher) return;
    act();
    this.#catchUp();
  }

  /** What has come meanwhile, and is newer than what was read. */
  #catchUp(): void {
    const pending = this.#pending ?? [];
    this.#pending = undefined;
    for (const batch of pending) if (batch.revision > this.#readAt) this.#take(batch);
  }
}
