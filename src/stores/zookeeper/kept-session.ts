/**
 * The life of claims: sessions of ZooKeeper, each shared by all claims of a process with one ttl.
 *
 * The servers end a session, and delete its nodes, after its timeout without a sign of life. The
 * timeout is half as much again as the ttl, because a session is surely alive only for two thirds
 * of it after a heartbeat (confirmations.ts); so a claim has its whole ttl.
 * The session lives on for other claims, so each claim that is over must be deleted: by its release
 * or, if that failed or the claim was not renewed, by this process, which tries again whenever it
 * can until the session itself is over. Nodes cannot outlive that.
 */
import { type Clock, OneTimer } from '../../base/clock.ts';
import { SharedTimer } from '../../base/shared-timer.ts';
import { keptOnce, singleFlight } from '../../base/single-flight.ts';
import type { ZookeeperClient } from '../../clients/zookeeper/client.ts';
import type { ZookeeperSession } from '../../clients/zookeeper/zookeeper-session.ts';
import { permanentFailure } from '../../contract/errors.ts';
import { lineageOf, type Recipe, type Tree } from './layout.ts';

/** How much longer a session lives than its claims. */
export const LONGER = 1.5;
/** The protocol has no number for a longer session, in ms: nearly 25 days. */
const LONGEST_MS = 2 ** 31 - 1;
/** How long an unused session stays open for the next claim. */
const LINGER_MS = 30_000;
/** No reply takes longer, in ms, nor than a fifth of the session. */
const MOST_PATIENCE_MS = 3000;

/** A claim, as far as a session needs it. */
export interface KeptClaim {
  readonly until: number;
  readonly left: boolean;
}

export interface SessionParts {
  readonly client: ZookeeperClient;
  readonly tree: Tree;
  readonly clock: Clock;
  /** These claims have something to ask. */
  alarm(claims: Iterable<KeptClaim>): void;
  /** A claim is over, and its node may be there. Resolves when it surely is not. */
  clear(own: KeptClaim): Promise<void>;
  /** A claim is over, and its session too. */
  drop(own: KeptClaim): void;
}

export class KeptSession {
  readonly session: ZookeeperSession;
  /** For what concerns its claims once they have held for a while. */
  readonly timer: SharedTimer;
  readonly #claims = new Set<KeptClaim>();
  /** Where its tokens come from; known when it is ready. */
  lineage = '';
  readonly #parts: SessionParts;
  readonly #askedMs: number;
  readonly #idle: (kept: KeptSession) => void;
  readonly #sweeper: OneTimer;
  #usedAt: number;
  #sweepAt = Number.POSITIVE_INFINITY;
  #ended = false;

  /** `idle` is called when it has been unused for long. */
  constructor(parts: SessionParts, askedMs: number, idle: (kept: KeptSession) => void) {
    this.#parts = parts;
    this.#askedMs = askedMs;
    this.#idle = idle;
    this.#sweeper = new OneTimer(parts.clock);
    this.timer = new SharedTimer(parts.clock);
    this.session = parts.client.start(Math.min(askedMs, LONGEST_MS));
    this.session.listen(({ to }) => {
      if (to === 'connected') return;
      parts.alarm(this.#claims);
      if (to !== 'suspended') this.sweep();
    });
    this.#usedAt = parts.clock.now();
    this.#sweepBy(this.#usedAt + LINGER_MS);
  }

  /** The recipe of all queues that it has claims in. */
  get recipe(): Recipe {
    return this.#parts.tree.recipe;
  }

  /** A claim is about to need it. */
  use(): void {
    this.#usedAt = this.#parts.clock.now();
  }

  add(own: KeptClaim): void {
    this.#claims.add(own);
    this.#sweepBy(own.until);
  }

  remove(own: KeptClaim): void {
    if (this.#claims.delete(own)) this.use();
  }

  get over(): boolean {
    const { state } = this.session;
    return state === 'expired' || state === 'closed';
  }

  /** Nothing can be confirmed now. */
  get silent(): boolean {
    return this.session.state === 'suspended' || this.session.state === 'connecting';
  }

  get within(): { readonly timeoutMs: number } {
    return { timeoutMs: Math.min(MOST_PATIENCE_MS, this.#askedMs / 5) };
  }

  /** The servers keep it at least until then. */
  get deadline(): number {
    return this.session.touchedAt + this.session.timeoutMs;
  }

  /** Resolves once it is connected, and has the whole life of a new claim. */
  async ready(): Promise<void> {
    await this.connected();
    const { timeoutMs } = this.session;
    if (timeoutMs >= this.#askedMs) return this.confirm();
    const message =
      `These ZooKeeper servers keep a session for at most ${timeoutMs} ms, so a ttl can be at ` +
      `most ${Math.floor(timeoutMs / LONGER)} ms. Raise maxSessionTimeout there, or lower the ttl.`;
    throw permanentFailure(message);
  }

  /** Resolves once it is connected and its lineage is known. */
  readonly connected: () => Promise<void> = keptOnce(async () => {
    this.lineage = await lineageOf(this.session, this.#parts.tree, this.within);
  });

  /** Gives it as much life as claims want, if possible; right after a write, one more will do. */
  async confirm(after?: 'write'): Promise<void> {
    if (!this.fresh) await this.#confirm(after);
  }

  readonly #confirm = singleFlight((after: 'write' | undefined) =>
    after ? this.session.touch(this.within) : this.session.confirm(this.within),
  );

  /** It has as much life as a new claim wants. */
  get fresh(): boolean {
    return this.deadline - this.#parts.clock.now() >= this.session.timeoutMs / LONGER;
  }

  /** It is `ready`, without asking. */
  get atHand(): boolean {
    return this.lineage !== '' && this.session.timeoutMs >= this.#askedMs && this.fresh;
  }

  /** Deletes claims that are over now, and schedules the next sweep. */
  sweep(): void {
    if (this.#ended) return;
    const { clock, clear, drop } = this.#parts;
    const now = clock.now();
    let next = this.#claims.size > 0 ? Number.POSITIVE_INFINITY : this.#usedAt + LINGER_MS;
    for (const own of [...this.#claims]) {
      const over = own.until <= now;
      next = Math.min(next, over ? now + this.#askedMs / 10 : own.until);
      if (this.over && (over || own.left)) drop(own);
      else if (over && !this.silent) clear(own).catch(() => {});
    }
    if (this.#claims.size === 0 && now >= next) return this.#idle(this);
    this.#sweepAt = Number.POSITIVE_INFINITY;
    this.#sweepBy(Math.max(next, now + 1));
  }

  /** Sweeps again, after whatever has just failed had time to pass. */
  sweepSoon(): void {
    if (!this.#ended) this.#sweepBy(this.#parts.clock.now() + this.#askedMs / 10);
  }

  /** Stops sweeping; ends the session. */
  end(): void {
    this.#sweeper.clear();
    this.#ended = true;
    // Unreleased claims keep their ttl; after failed releases alone, it ends at once.
    const stays = [...this.#claims].some(({ left }) => !left);
    if (stays) this.session.abandon();
    else void this.session.close();
  }

  #sweepBy(at: number): void {
    if (at >= this.#sweepAt) return;
    this.#sweepAt = at;
    this.#sweeper.set(() => this.sweep(), at - this.#parts.clock.now());
    this.#sweeper.unref();
  }
}
