/**
 * One heartbeat for all claims of a process, waiting and held.
 *
 * Invariant: as long as this process runs, every member is called at least once every third of its
 * TTL, so that one heartbeat may fail, and the next is in time. Members of equal TTL share one
 * timer, and their requests of one tick travel together: N of them cost N/100 requests an interval.
 * A tick arms the next one before it calls a member, because a claim with enough life left relies
 * on it to notice its deadline. Where the clock may have stood still, all are called at once. An
 * empty group stays until its next tick, because a lock that is taken alone is often taken again
 * soon.
 * What would break it: a timer for each claim that is set again only after its reply.
 */
import { type Clock, type Timer, timers } from '../base/clock.ts';
import { detached } from '../base/event-loop.ts';
import { TRIES_PER_TTL } from '../store-calls/time-limit.ts';

export interface BeatMember {
  /** `beat` is called three times in this time, in ms. */
  readonly beatTtlMs: number;
  beat(): void;
  /** The clock may have stood still: earlier confirmations are in doubt. */
  doubt(): void;
}

interface BeatGroup {
  readonly everyMs: number;
  readonly members: Set<BeatMember>;
  timer: Timer | undefined;
  tickedAt: number;
}

export class Heartbeat {
  /** Requests sent before this, on our clock, are in doubt. */
  jumpedAt: number = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;
  readonly #groups = new Map<number, BeatGroup>();
  readonly #forgetJumps: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#forgetJumps = clock.onJump?.((at) => {
      this.jumpedAt = at;
      // A read of the clock must not call members.
      timers.queueMicrotask(() => detached(() => this.#doubt()));
    });
  }

  /** True if its next call was due within a third of its TTL when this was called. */
  add(member: BeatMember): boolean {
    const everyMs = intervalOf(member.beatTtlMs);
    const known = this.#groups.get(everyMs);
    const group = known ?? this.#start(everyMs);
    group.members.add(member);
    return known !== undefined;
  }

  remove(member: BeatMember): void {
    this.#groups.get(intervalOf(member.beatTtlMs))?.members.delete(member);
  }

  /** True if the heartbeat of this TTL should have run long ago: the process stood still. */
  stalled(beatTtlMs: number, now: number): boolean {
    const group = this.#groups.get(intervalOf(beatTtlMs));
    return group !== undefined && now - group.tickedAt > 2 * group.everyMs;
  }

  close(): void {
    this.#forgetJumps?.();
    for (const { timer } of this.#groups.values()) if (timer) this.#clock.clearTimeout(timer);
    this.#groups.clear();
  }

  #doubt(): void {
    for (const member of [...this.#groups.values()].flatMap(({ members }) => [...members])) {
      member.doubt();
      member.beat();
    }
  }

  #start(everyMs: number): BeatGroup {
    const tickedAt = this.#clock.now();
    const group: BeatGroup = { everyMs, members: new Set(), timer: undefined, tickedAt };
    this.#arm(group);
    this.#groups.set(everyMs, group);
    return group;
  }

  #tick(group: BeatGroup): void {
    if (group.members.size === 0) return void this.#groups.delete(group.everyMs);
    this.#arm(group);
    const now = this.#clock.now();
    for (const member of [...group.members]) member.beat();
    group.tickedAt = now;
  }

  /** A lease keeps no process alive; a wait does, but not through this timer. */
  #arm(group: BeatGroup): void {
    const tick = (): void => detached(() => this.#tick(group));
    group.timer = this.#clock.setTimeout(tick, group.everyMs);
    group.timer.unref();
  }
}

/** In ms; whole, as timers are. */
function intervalOf(beatTtlMs: number): number {
  return Math.floor(beatTtlMs / TRIES_PER_TTL);
}
