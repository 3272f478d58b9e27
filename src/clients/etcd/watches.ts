/**
 * All watches, over one stream, which is opened anew for as long as there are any.
 *
 * Invariant: each watch gets every change from its first revision on, in order, those of one
 * revision together, each once. The server sends a revision whole, and revisions in order; each
 * watch keeps the next revision to report, requests it again after an interruption at any point,
 * and drops everything before it. A server that is behind the others sends nothing until it has
 * caught up. If the server has lost (compacted) changes, or its revisions are those of another
 * cluster, the watch is lost, and reports that.
 * What would break it: a revision in parts, which a server sends only on request; replies to watch
 * requests in another order than the requests.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pauseAfter } from '../opening.ts';
import type { Calls } from './calls.ts';
import type { EtcdWatcher, KeyChange } from './client.ts';
import { NoAnswer } from './errors.ts';
import type { RpcStream } from './rpc-stream.ts';
import { type WatchResponse, watchRequest, watchResponse } from './wire/messages.ts';
import { decode, encode } from './wire/protobuf.ts';
import { MalformedError } from './wire/wire-format.ts';

/** How often a watch may be refused; the first time, perhaps for an old token. */
const MAX_REFUSALS = 2;

interface EtcdWatch {
  readonly watcher: EtcdWatcher;
  /** The first revision to report; undefined: what comes after the start. */
  next: bigint | undefined;
  /** On the current stream. */
  id?: bigint | undefined;
  /** Undefined before its start. */
  cluster?: bigint;
  refusals: number;
}

export class EtcdWatches {
  readonly #calls: Calls;
  readonly #closing = new AbortController();
  readonly #all = new Set<EtcdWatch>();
  readonly #byId = new Map<bigint, EtcdWatch>();
  /** Requested, in the order of the replies; includes those that have ended meanwhile. */
  #asked: EtcdWatch[] = [];
  #stream: RpcStream | undefined;
  #opening = false;
  /** Since the last message. */
  #failures = 0;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  watch(watcher: EtcdWatcher): Disposable {
    const watch: EtcdWatch = { watcher, next: watcher.from, refusals: 0 };
    this.#all.add(watch);
    if (this.#stream) this.#ask(this.#stream, watch);
    else void this.#open();
    return { [Symbol.dispose]: () => this.#end(watch) };
  }

  close(): void {
    this.#all.clear();
    this.#closing.abort();
    this.#restart('it was closed');
  }

  /** Tries, over any connection, for as long as there are watches. Never rejects. */
  async #open(): Promise<void> {
    if (this.#opening) return;
    this.#opening = true;
    const { signal } = this.#closing;
    while (!this.#stream && !signal.aborted && this.#all.size > 0) {
      if (this.#failures > 1) {
        await sleep(pauseAfter(this.#failures), undefined, { signal, ref: false }).catch(() => {});
      }
      await this.#try().catch(() => {
        this.#failures++;
      });
    }
    this.#opening = false;
  }

  async #try(): Promise<void> {
    let over = false;
    let stream: RpcStream | undefined;
    stream = await this.#calls.stream('/etcdserverpb.Watch/Watch', {
      message: (bytes) => {
        this.#failures = 0;
        this.#take(decode(watchResponse, bytes));
      },
      ended: () => {
        over = true;
        if (stream && this.#stream === stream) this.#ended();
      },
    });
    if (over) throw new NoAnswer(true, 'the stream ended at once');
    this.#stream = stream;
    if (this.#closing.signal.aborted) this.#restart('it was closed');
    else for (const watch of this.#all) this.#ask(stream, watch);
  }

  #ended(): void {
    this.#stream = undefined;
    this.#failures++;
    this.#asked = [];
    this.#byId.clear();
    for (const watch of this.#all) watch.id = undefined;
    if (this.#all.size > 0) void this.#open();
  }

  /** Goes on with another stream. */
  #restart(why: string): void {
    this.#stream?.end(new NoAnswer(true, why));
  }

  #ask(stream: RpcStream, watch: EtcdWatch): void {
    const { key, end = '' } = watch.watcher;
    this.#asked.push(watch);
    stream.expect(true);
    stream.write(encode(watchRequest, { create: { key, end, from: watch.next ?? 0n } }));
  }

  #end(watch: EtcdWatch): void {
    if (!this.#all.delete(watch)) return;
    if (watch.id !== undefined) this.#cancel(watch.id);
    if (this.#all.size === 0) this.#stream?.expect(false);
  }

  #cancel(id: bigint): void {
    this.#byId.delete(id);
    this.#stream?.write(encode(watchRequest, { cancel: { id } }));
  }

  #lose(watch: EtcdWatch): void {
    this.#end(watch);
    watch.watcher.lost();
  }

  #take(response: WatchResponse): void {
    if (response.created) return this.#created(response);
    const watch = this.#byId.get(response.id);
    if (watch === undefined) return;
    if (!response.canceled) return this.#deliver(watch, response);
    this.#byId.delete(response.id);
    watch.id = undefined;
    if (response.compactRevision > 0n) this.#lose(watch);
    else this.#refused(watch, response.reason);
  }

  #created({ id, canceled, reason, header }: WatchResponse): void {
    const watch = this.#asked.shift();
    if (watch === undefined) throw new MalformedError('a watch was created without a request');
    const there = this.#all.has(watch);
    if (canceled) return there ? this.#refused(watch, reason) : undefined;
    if (header === undefined) throw new MalformedError('a watch has no header');
    if (!there) return this.#cancel(id);
    watch.id = id;
    watch.refusals = 0;
    this.#byId.set(id, watch);
    const starts = watch.cluster === undefined;
    watch.cluster ??= header.cluster;
    if (watch.cluster !== header.cluster) return this.#lose(watch);
    watch.next ??= header.revision + 1n;
    if (!starts) return;
    const before = watch.next - 1n;
    watch.watcher.started(header.revision > before ? header.revision : before);
  }

  #deliver(watch: EtcdWatch, { events }: WatchResponse): void {
    let batch: KeyChange[] = [];
    for (const [n, { type, kv }] of events.entries()) {
      if (kv === undefined) throw new MalformedError('an event is about no key');
      const revision = kv.modRevision;
      if (watch.next !== undefined && revision < watch.next) continue;
      batch.push({ deleted: type === 1, kv });
      if (events[n + 1]?.kv?.modRevision === revision) continue;
      watch.next = revision + 1n;
      watch.watcher.changed(batch, revision);
      if (!this.#all.has(watch)) return;
      batch = [];
    }
  }

  /** Only says that the watch is not permitted, even if the token is too old. */
  #refused(watch: EtcdWatch, reason: string): void {
    watch.refusals++;
    if (watch.refusals >= MAX_REFUSALS) return this.#lose(watch);
    this.#calls.forget();
    this.#restart(`a watch was refused: ${reason}`);
  }
}
