/**
 * One heartbeat for all claims of a process, waiting and held.
 *
 * Invariant: as long as this process runs, every claim in here is asked about at least once every
 * third of its TTL, so that two heartbeats may fail before it dies. Claims of equal TTL share one
 * timer and a lane, so N of them cost N/100 requests an interval. A tick that runs late first looks
 * at the clock: what has died meanwhile is reported, never renewed.
 * What would break it: a timer for each claim that is set again only after its answer.
 */

import type { Clock, Timer } from '../base/clock.ts';
import { inBackground } from '../base/event-loop.ts';
import type { ClaimStatus } from '../contract/store.ts';
import type { Lane } from '../store-calls/batcher.ts';
import { TRIES_PER_TTL } from '../store-calls/time-limit.ts';
import type { LiveClaim } from './live-claim.ts';

interface Beat {
  readonly everyMs: number;
  readonly claims: Set<LiveClaim>;
  readonly lane: Lane<ClaimStatus>;
  readonly run: () => void;
  timer: Timer;
  ranAt: number;
}

export class Heartbeat {
  readonly #clock: Clock;
  readonly #newLane: () => Lane<ClaimStatus>;
  readonly #beats = new Map<number, Beat>();

  constructor(clock: Clock, newLane: () => Lane<ClaimStatus>) {
    this.#clock = clock;
    this.#newLane = newLane;
  }

  add(live: LiveClaim): void {
    const everyMs = live.terms.beatTtlMs / TRIES_PER_TTL;
    const beat = this.#beats.get(everyMs) ?? this.#start(everyMs);
    beat.claims.add(live);
  }

  remove(live: LiveClaim): void {
    const beat = this.#beats.get(live.terms.beatTtlMs / TRIES_PER_TTL);
    if (!beat?.claims.delete(live) || beat.claims.size > 0) return;
    this.#clock.clearTimeout(beat.timer);
    this.#beats.delete(beat.everyMs);
  }

  /** The way to the store for questions about this claim. */
  laneOf(live: LiveClaim): Lane<ClaimStatus> {
    return this.#beats.get(live.terms.beatTtlMs / TRIES_PER_TTL)?.lane ?? this.#newLane();
  }

  /** True if the heartbeat of this claim should have run long ago: the process stood still. */
  stalled(live: LiveClaim, now: number): boolean {
    const beat = this.#beats.get(live.terms.beatTtlMs / TRIES_PER_TTL);
    return beat !== undefined && now - beat.ranAt > 2 * beat.everyMs;
  }

  /** Our clock may have stood still: asks about all claims now. */
  doubt(): void {
    for (const live of [...this.#beats.values()].flatMap(({ claims }) => [...claims])) {
      live.doubt(undefined);
      live.ask();
    }
  }

  #start(everyMs: number): Beat {
    const ranAt = this.#clock.now();
    const run = (): void => inBackground(() => this.#run(beat));
    const timer = this.#arm(run, everyMs);
    const beat: Beat = { everyMs, claims: new Set(), ranAt, run, lane: this.#newLane(), timer };
    this.#beats.set(everyMs, beat);
    return beat;
  }

  #run(beat: Beat): void {
    // First of all: claims with enough life left rely on the next tick to notice their deadline,
    // also if this process stands still while it asks about the others.
    beat.timer = this.#arm(beat.run, beat.everyMs);
    const now = this.#clock.now();
    for (const live of [...beat.claims]) if (live.phase !== 'held' || live.alive(now)) live.ask();
    beat.ranAt = now;
  }

  /** A lease keeps no process alive; a wait does, but not through this timer. */
  #arm(run: () => void, ms: number): Timer {
    const timer = this.#clock.setTimeout(run, ms);
    timer.unref();
    return timer;
  }
}
