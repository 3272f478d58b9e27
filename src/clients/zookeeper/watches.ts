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

/** `changed`: its data. `children`: one came or went. `expired`: the session is over. */
export interface WatchEvent {
  readonly type: 'created' | 'deleted' | 'changed' | 'children' | 'expired';
  readonly path: string;
}

export type NodeWatcher = (event: WatchEvent) => void;

export interface Watching {
  readonly kind: WatchKind;
  readonly watcher: NodeWatcher;
}

const NO_NODE = -101;

/** The order of the lists in `setWatches`. */
const KINDS: readonly WatchKind[] = ['data', 'exists', 'children'];

/** By their numbers; each ends watches of these kinds. */
const EVENTS: Readonly<Record<number, readonly [WatchEvent['type'], readonly WatchKind[]]>> = {
  1: ['created', ['data', 'exists']],
  2: ['deleted', KINDS],
  3: ['changed', ['data', 'exists']],
  4: ['children', ['children']],
};

/** So many paths go into one frame, which is then far below servers' limits. */
const MOST_IN_FRAME = 100;

export class NodeWatches {
  readonly #chroot: string;
  readonly #kinds: Readonly<Record<WatchKind, Map<string, Set<NodeWatcher>>>> = {
    data: new Map(),
    exists: new Map(),
    children: new Map(),
  };

  /** Watchers get paths below it. */
  constructor(chroot: string) {
    this.#chroot = chroot;
  }

  /** After a reply with this code; only `exists` can watch a missing node. */
  keep(path: string, { kind, watcher }: Watching, code: number): void {
    const there = code === 0;
    if (!there && (code !== NO_NODE || kind !== 'exists')) return;
    const paths = this.#kinds[there && kind === 'exists' ? 'data' : kind];
    paths.set(path, (paths.get(path) ?? new Set()).add(watcher));
  }

  drop(path: string, watcher: NodeWatcher): void {
    for (const paths of Object.values(this.#kinds)) {
      const watchers = paths.get(path);
      watchers?.delete(watcher);
      if (watchers?.size === 0) paths.delete(path);
    }
  }

  /** An event from a server. Events without a watcher are normal. */
  take(answer: JuteReader): void {
    const event = EVENTS[answer.int()];
    answer.int();
    const path = answer.text();
    if (!event) return;
    const [type, kinds] = event;
    const called = kinds.flatMap((kind) => [...(this.#kinds[kind].get(path) ?? [])]);
    for (const kind of kinds) this.#kinds[kind].delete(path);
    this.#call(new Set(called), type, path);
  }

  *frames(lastZxid: bigint): Generator<Buffer> {
    for (const kind of KINDS) {
      const paths = [...this.#kinds[kind].keys()];
      for (let at = 0; at < paths.length; at += MOST_IN_FRAME) {
        yield frameOf(kind, paths.slice(at, at + MOST_IN_FRAME), lastZxid);
      }
    }
  }

  expire(): void {
    for (const paths of Object.values(this.#kinds)) {
      const all = [...paths];
      paths.clear();
      for (const [path, watchers] of all) this.#call(watchers, 'expired', path);
    }
  }

  #call(watchers: ReadonlySet<NodeWatcher>, type: WatchEvent['type'], path: string): void {
    const event = { type, path: path.slice(this.#chroot.length) || '/' };
    for (const watcher of watchers) apart(() => watcher(event));
  }
}

function frameOf(kind: WatchKind, paths: readonly string[], lastZxid: bigint): Buffer {
  const out = new JuteWriter().int(-8).int(OPCODE.setWatches).long(lastZxid);
  for (const each of KINDS) out.list(each === kind ? paths : [], (path) => out.text(path));
  return out.frame();
}

/** An exception of one listener must not end the connection, nor keep others from being called. */
export function apart(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
