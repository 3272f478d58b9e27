/**
 * A queue in which claims of this process stand, followed as far as it concerns them.
 *
 * A waiter watches one node: a mutex or a writer the claim right before its own, a reader the
 * writer before it. Of the waiters for permits, the first watches the list of children, each other
 * the claim before it. So a departure notifies one process, or the readers that it lets in. That
 * process lists the queue, and all its claims learn from the list where they stand; a lone claim
 * first reads the note at the queue's node, which often shows as much (takeover.ts).
 * A later waiter for permits must learn that the claim before it was admitted. That claim writes
 * its own node once, when it is let in with a claim of another process behind it. No such write is
 * missed, because a waiter reads the node as it starts to watch it.
 * Invariant: as long as a claim waits, it watches something that will change before its turn, or a
 * request about it is under way; after a failure, its heartbeat asks anew.
 * What would break it: a list from another session in which a claim is not there yet. So only a
 * list from its own session, requested after its node was made, shows that a claim is gone.
 */
import { Answer, follow, type Soon } from '../../base/answer.ts';
import { type Clock, timers } from '../../base/clock.ts';
import type { NodeWatcher, WatchEvent } from '../../clients/zookeeper/watches.ts';
import { MAX_PERMITS, type Takeover } from '../../contract/store.ts';
import type { KeptSession } from './kept-session.ts';
import type { ZookeeperClaim } from './own-claim.ts';
import { dataOf, type NodePlace, type NodeView } from './places.ts';
import { listQueue, readDetails, readNote } from './reading.ts';
import { leavesWork, type ReadQueue, readSuccession, takeoverOf } from './takeover.ts';

/** Wakes it: with its status, if that has changed, or to ask. */
type WakeOwn = (own: ZookeeperClaim, changed: boolean) => void;

/** Watches begin when a hold has lasted this long; most locks are not held so long. */
const HOLDS_MS = 10;

export class FollowedQueue {
  /** That of its node. */
  readonly path: string;
  /** The claims of this process in it, by their ids there. */
  readonly claims: Map<string, ZookeeperClaim> = new Map();
  readonly #clock: Clock;
  readonly #wake: WakeOwn;
  readonly #looks = new Map<KeptSession, Answer<NodeView>>();
  #last: NodeView | undefined;

  constructor(clock: Clock, path: string, wake: WakeOwn) {
    this.#clock = clock;
    this.path = path;
    this.#wake = wake;
  }

  leave(own: ZookeeperClaim): void {
    this.claims.delete(own.id);
    const { awaited, watcher, kept } = own;
    if (awaited && watcher) kept.session.unwatch(awaited, watcher);
    // A leaving waiter may be a holder's last; a leaving holder notifies waiters anyway.
    const some = [...this.claims.values()].find(({ crowded }) => crowded);
    if (!own.held && some) this.#lookAgain(some);
  }

  /** Lists the queue, after all requests made in this session by the end of this step. */
  look(kept: KeptSession): Answer<NodeView> {
    const known = this.#looks.get(kept);
    if (known) return known;
    const look = new Answer<NodeView>();
    this.#looks.set(kept, look);
    timers.queueMicrotask(() => {
      this.#looks.delete(kept);
      Answer.of<NodeView>(() => this.#list(kept)).on(look);
    });
    return look;
  }

  /** Updates a claim whose node is there with its place, and watches what it waits for. */
  stand(own: ZookeeperClaim, seen: ReadQueue): Soon<void> {
    const { view } = seen;
    const index = view.find(own.id);
    const takes = index < view.admitted && !own.held && leavesWork(own, view);
    if (index >= view.admitted && !own.held) own.seen = { view, index };
    const takeover = takes ? this.#takeover(own, seen) : own.takeover;
    return follow<Takeover | undefined, void>(takeover, (found): Soon<void> => {
      own.takeover = found;
      const changed = own.see(view);
      // An entering claim gets a status anyway.
      if (changed && !own.entering) this.#wake(own, true);
      if (!own.held) return this.#await(own, view);
      this.#announce(own, view);
      this.#attend(own);
    });
  }

  /** Asked for once, however many lists show that it holds: who reads of an eviction removes it. */
  #takeover(own: ZookeeperClaim, seen: ReadQueue): Promise<Takeover | undefined> {
    own.takingOver ??= takeoverOf(own, this.path, seen).catch((error) => {
      own.takingOver = undefined;
      throw error;
    });
    return own.takingOver;
  }

  #list(kept: KeptSession, watch?: NodeWatcher): Answer<NodeView> {
    const there = [...this.claims.values()].filter((own) => own.path !== undefined);
    const unclear = there.some((own) => own.kept === kept && this.#needsNote(own));
    const listed = listQueue(kept, this.path, { watch, known: this.#last }).map((view) => {
      this.#last = view;
      return view;
    });
    if (there.length === 0) return listed;
    const noted = unclear ? readNote(kept, this.path) : undefined;
    const learned = Promise.all([listed, noted]).then(async ([view, note]) => {
      await Promise.all(there.map((own) => this.#learn(own, kept, { view, note })));
      return view;
    });
    return Answer.from(learned);
  }

  /** Never rejects: a failure for one claim is left to its own heartbeat. */
  async #learn(own: ZookeeperClaim, kept: KeptSession, seen: ReadQueue): Promise<void> {
    if (this.claims.get(own.id) !== own || own.left) return;
    if (seen.view.find(own.id) < 0) {
      if (own.kept === kept) this.#wake(own, false);
      return;
    }
    const stands = Answer.of<void>(() => this.stand(own, seen)).catch(() => {});
    // Another session may be slow to reply.
    if (own.kept === kept) await stands;
  }

  /** The claim before it has gone, and a list may not be enough to know how the last hold ended. */
  #needsNote({ held, awaited, seen }: ZookeeperClaim): boolean {
    return !held && awaited === undefined && seen !== undefined && seen.index > 1;
  }

  /** Watches what has to change before it is this claim's turn. */
  async #await(own: ZookeeperClaim, view: NodeView): Promise<void> {
    const index = view.find(own.id);
    const target = targetOf(view, index);
    const before = view.places[index - 1];
    if (!before) return;
    const path = target ? `${this.path}/${target.name}` : this.path;
    this.#inform(own, before);
    if (own.awaited === path) return;
    own.awaited = path;
    const { name } = before;
    const changed = (event: WatchEvent): void => {
      if (own.awaited !== path) return;
      own.awaited = undefined;
      if (event.type === 'expired' || !this.claims.has(own.id)) return;
      // A list would tell other claims of this process where they stand now.
      const lone = this.claims.size === 1 && target === before;
      if (event.type === 'deleted' && lone) this.#succeed(own);
      else this.#lookAgain(own);
    };
    own.watcher = changed;
    try {
      if (!target) {
        const known = own.before?.name === name;
        const details = known ? undefined : await readDetails(own.kept, `${this.path}/${name}`);
        if (details) own.before = { ...details, name };
        await this.#list(own.kept, changed);
        return;
      }
      const details = await readDetails(own.kept, path, changed);
      const missed = details?.admitted && index > view.admitted;
      if (details && target === before) own.before = { ...details, name };
      if (details && !missed) return;
      own.awaited = undefined;
      await this.look(own.kept);
    } catch (error) {
      if (own.awaited === path) own.awaited = undefined;
      throw error;
    }
  }

  /** This process knows more of its claims than their nodes say. */
  #inform(own: ZookeeperClaim, before: NodePlace): void {
    const known = this.claims.get(before.id ?? '');
    if (!known?.path) return;
    const lastsMs = known.sealed ? known.leftMs(this.#clock.now()) : known.claim.ttlMs;
    own.before = { name: before.name, number: known.number, lastsMs };
  }

  /** The claim right before it has gone: a list is not needed if it was released. */
  #succeed(own: ZookeeperClaim): void {
    const { kept } = own;
    const succeeds = async (): Promise<unknown> => {
      const seen = await readSuccession(own, this.path);
      return seen ? this.#learn(own, kept, seen) : this.look(kept);
    };
    // Its heartbeat asks too.
    succeeds().catch(() => {});
  }

  /** Never rejects: its heartbeat asks too. */
  #lookAgain({ kept }: ZookeeperClaim): void {
    this.look(kept).catch(() => {});
  }

  /**
   * The claim right behind this one, of another process, watches only this node, and may now be
   * admitted or first to wait. Later claims see this in their list.
   */
  #announce(own: ZookeeperClaim, view: NodeView): void {
    const { version, path, kept } = own;
    if (own.announced || own.sealed || own.claim.kind !== 'permits' || path === undefined) return;
    own.announced = true;
    const next = view.places[view.find(own.id) + 1];
    if (next === undefined || this.claims.has(next.id ?? '')) return;
    const data = dataOf(own.claim, { admitted: true });
    kept.session.setData(path, data, { version, ...kept.within }).then(
      (stat) => {
        own.version = stat.version;
      },
      () => {
        own.announced = false;
      },
    );
  }

  /** Long holders watch for waiters, and for their own eviction. */
  #attend(own: ZookeeperClaim): void {
    if (own.attentive === 'yes') this.#watchCrowd(own);
    if (own.attentive !== 'no') return;
    own.attentive = 'soon';
    const begin = (): void => {
      if (!this.#stays(own)) return;
      own.attentive = 'yes';
      this.#watchNode(own);
      this.#watchCrowd(own);
    };
    own.kept.timer.add(this.#clock.now() + HOLDS_MS, begin);
  }

  #stays(own: ZookeeperClaim): boolean {
    return this.claims.get(own.id) === own && !own.left && !own.sealed;
  }

  #watchNode(own: ZookeeperClaim): void {
    const { path } = own;
    if (path === undefined) return;
    const changed = ({ type }: WatchEvent): void => {
      if (type === 'expired' || own.path !== path || !this.#stays(own)) return;
      this.#wake(own, false);
      if (type === 'changed') this.#watchNode(own);
    };
    readDetails(own.kept, path, changed).then(
      (details) => {
        if (this.#stays(own) && (!details || details.sealed)) this.#wake(own, false);
      },
      () => {},
    );
  }

  /** Watches the list for a mutex or writer, until it has a waiter. */
  #watchCrowd(own: ZookeeperClaim): void {
    const alone = own.claim.kind === 'mutex' || own.claim.kind === 'write';
    if (!alone || own.crowded || own.crowdWatched) return;
    own.crowdWatched = true;
    const changed = ({ type }: WatchEvent): void => {
      own.crowdWatched = false;
      own.undisturbed = false;
      if (type !== 'expired' && this.#stays(own)) this.#watchCrowd(own);
    };
    this.#list(own.kept, changed).then(
      () => {
        own.undisturbed = own.crowdWatched && !own.crowded;
      },
      () => {
        own.crowdWatched = false;
        // A look before it, whose reply comes with what ended its watch, has it undisturbed since.
        own.undisturbed = false;
      },
    );
  }
}

/** What the claim at this place waits for; undefined: any departure. */
function targetOf({ places, admitted }: NodeView, index: number): NodePlace | undefined {
  const own = places[index];
  if (own?.kind === 'read') {
    return places.slice(0, index).findLast(({ permits }) => permits === MAX_PERMITS);
  }
  return own?.kind === 'permits' && index === admitted ? undefined : places[index - 1];
}
