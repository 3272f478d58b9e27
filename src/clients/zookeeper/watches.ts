/**
 * All watches, so that each new connection can be given them.
 *
 * A server forgets its watches with the connection. The next one gets all of them, with the last
 * transaction that this client has seen; it reports later changes at once, because a server sends
 * an event before any reply that knows of its change. The session's end sends all watchers
 * `expired`. So no change is lost, though a report may understate it: a node that went and came
 * back has `changed`.
 */
import { type JuteReader, JuteWriter } from './wire/jute.ts';
import { OPCODE, type WatchKind } from './wire/requests.ts';

/**
 * `created`, `deleted`, `changed` (its data), `children` (a child came or went). `expired`: the
 * session is over.
 */
export interface WatchEvent {
  readonly type: 'created' | 'deleted' | 'changed' | 'children' | 'expired';
  readonly path: string;
}

export type NodeWatcher = (event: WatchEvent) => void;

/** The watch to keep, if the request finds something that can be watched. */
export interface Watching {
  readonly kind: WatchKind;
  readonly watcher: NodeWatcher;
}

/** The code of a reply about a missing node. */
const NO_NODE = -101;

const EVENTS: Readonly<Record<number, WatchEvent['type']>> = {
  1: 'created',
  2: 'deleted',
  3: 'changed',
  4: 'children',
};

const ENDED_BY: Readonly<Record<string, readonly WatchKind[]>> = {
  created: ['data', 'exists'],
  changed: ['data', 'exists'],
  deleted: ['data', 'exists', 'children'],
  children: ['children'],
};

/** The order of the lists in `setWatches`. */
const KINDS: readonly WatchKind[] = ['data', 'exists', 'children'];

/** This many bytes of paths go into one frame, far below servers' limits. */
const BATCH_BYTES = 128 * 1024;

export class NodeWatches {
  readonly #chroot: string;
  readonly #kinds = new Map<WatchKind, Map<string, Set<NodeWatcher>>>(
    KINDS.map((kind) => [kind, new Map()]),
  );

  /** Watchers get paths below it. */
  constructor(chroot: string) {
    this.#chroot = chroot;
  }

  /** After a reply with this code; only `exists` can watch a missing node. */
  keep(path: string, { kind, watcher }: Watching, code: number): void {
    if (code === 0) this.#add(kind === 'exists' ? 'data' : kind, path, watcher);
    else if (code === NO_NODE && kind === 'exists') this.#add(kind, path, watcher);
  }

  #add(kind: WatchKind, path: string, watcher: NodeWatcher): void {
    const paths = this.#of(kind);
    const watchers = paths.get(path) ?? new Set();
    paths.set(path, watchers.add(watcher));
  }

  drop(path: string, watcher: NodeWatcher): void {
    for (const paths of this.#kinds.values()) {
      const watchers = paths.get(path);
      watchers?.delete(watcher);
      if (watchers?.size === 0) paths.delete(path);
    }
  }

  /** An event from a server. Events without a watcher are normal. */
  take(answer: JuteReader): void {
    const type = EVENTS[answer.int()];
    answer.int();
    const path = answer.text();
    if (type === undefined) return;
    const called = new Set<NodeWatcher>();
    for (const kind of ENDED_BY[type] ?? []) {
      for (const watcher of this.#of(kind).get(path) ?? []) called.add(watcher);
      this.#of(kind).delete(path);
    }
    this.#call(called, type, path);
  }

  /** Frames that set all watches at a server. */
  *frames(lastZxid: bigint): Generator<Buffer> {
    let lists = emptyLists();
    let bytes = 0;
    for (const [kind, paths] of this.#kinds) {
      for (const path of paths.keys()) {
        lists.get(kind)?.push(path);
        bytes += 4 + Buffer.byteLength(path);
        if (bytes < BATCH_BYTES) continue;
        yield frameOf(lists, lastZxid);
        lists = emptyLists();
        bytes = 0;
      }
    }
    if (bytes > 0) yield frameOf(lists, lastZxid);
  }

  /** Ends all watches. */
  expire(): void {
    for (const paths of this.#kinds.values()) {
      const all = [...paths];
      paths.clear();
      for (const [path, watchers] of all) this.#call(watchers, 'expired', path);
    }
  }

  #call(watchers: ReadonlySet<NodeWatcher>, type: WatchEvent['type'], path: string): void {
    const event = { type, path: path.slice(this.#chroot.length) || '/' };
    for (const watcher of watchers) apart(() => watcher(event));
  }

  #of(kind: WatchKind): Map<string, Set<NodeWatcher>> {
    return this.#kinds.get(kind) as Map<string, Set<NodeWatcher>>;
  }
}

function frameOf(lists: ReadonlyMap<WatchKind, readonly string[]>, lastZxid: bigint): Buffer {
  const out = new JuteWriter().int(-8).int(OPCODE.setWatches).long(lastZxid);
  for (const kind of KINDS) out.list(lists.get(kind) ?? [], (path) => out.text(path));
  return out.frame();
}

function emptyLists(): Map<WatchKind, string[]> {
  return new Map(KINDS.map((kind) => [kind, []]));
}

/** What listeners get, in order. `expired` or `closed` comes last. */
export interface SessionChange {
  readonly to: 'connected' | 'suspended' | 'reconnected' | 'expired' | 'closed';
  /** Why it was suspended, or closed by itself. */
  readonly cause?: Error;
  /** Which side found it expired. */
  readonly by?: 'server' | 'clock';
}

export type SessionListener = (change: SessionChange) => void;

/** The listeners of a session. Each gets all changes in order, even if one causes the next. */
export class SessionChanges {
  readonly #listeners = new Set<SessionListener>();
  readonly #pending: SessionChange[] = [];
  #delivering = false;

  /** Returns how to stop it. */
  listen(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  deliver(change: SessionChange): void {
    this.#pending.push(change);
    if (this.#delivering) return;
    this.#delivering = true;
    for (let next = this.#pending.shift(); next; next = this.#pending.shift()) {
      for (const listener of this.#listeners) apart(() => listener(next));
    }
    this.#delivering = false;
  }
}

/** An exception of one listener must not end the connection, nor keep others from being called. */
function apart(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
