import { randomId } from '../../base/random-id.ts';
import { type Claim, MAX_PERMITS } from '../../contract/store.ts';
import { LiveClaim } from '../../core/claim/live-claim.ts';
import { type Acquisition, Events } from '../../core/events.ts';
import type { Lease } from '../../core/lease.ts';
import { HOST, type LocalQueue } from '../../core/local-queue.ts';
import type { Services } from '../../core/services.ts';
import type { Waiter } from '../../core/waiter.ts';
import type { PublishedWait, WaitingHold } from '../../store-calls/waiting.ts';
import { isSame, labelOf, noteName, type WaitNote } from './notes.ts';

// Drawn once, and not at each nested acquisition, few of which are published.
let ours: string | undefined;
let waits = 0;

function nextId(): string {
  ours ??= randomId();
  return `${ours} ${++waits}`;
}

/** What listens to locks gets no events of notes, except that `heartbeat` counts them. */
export class NoEvents extends Events {
  override emit(): void {}
}

/** A wait as it stands in a line of this process. */
export interface WaiterPlace {
  readonly queue: LocalQueue;
  readonly waiter: Waiter<Lease | null>;
}

/** A claim with a note in its label. */
interface Posted {
  readonly hold: WaitingHold;
  readonly claim: LiveClaim;
  /** Resolves with the store's reply, or by `settle`. */
  readonly settled: Promise<void>;
  readonly settle: () => void;
}

export interface OwnWaitParts extends Pick<WaitNote, 'onDeadlock'> {
  readonly leases: readonly Lease[];
  readonly afterMs: number;
}

/** A wait of this process by a task that holds locks, with its notes in the store. */
export class OwnWait {
  readonly id: string = nextId();
  readonly acquisition: Acquisition;
  readonly began: number;
  /** When to look again. */
  dueAt: number;
  knot = '';
  told = false;
  /** The deadlock of which it is a part, as far as that is known. */
  cycle: readonly PublishedWait[] | undefined;
  #turn = 0;
  readonly #who = { host: HOST, pid: process.pid, since: Date.now() };
  readonly #services: Services;
  readonly #parts: OwnWaitParts;
  #posted: readonly Posted[] = [];
  #over = false;

  /** @param services without listeners. */
  constructor(services: Services, acquisition: Acquisition, parts: OwnWaitParts) {
    this.#services = services;
    this.acquisition = acquisition;
    this.#parts = parts;
    this.began = services.clock.now();
    this.dueAt = this.began + parts.afterMs;
  }

  /** There is still a lock that it holds up. */
  get holds(): boolean {
    return this.#held.length > 0;
  }

  /** The store has a note about each hold as it is now, and about no other. */
  get posted(): boolean {
    const held = this.#held;
    const isPosted = (now: WaitingHold): boolean =>
      this.#posted.some(({ hold }) => isSame(hold, now) && hold.permits === now.permits);
    return this.#posted.length === held.length && held.every(isPosted);
  }

  get #held(): readonly WaitingHold[] {
    return this.#parts.leases
      .filter((lease) => lease.held)
      .map(({ resource, token, live }) => ({ resource, token, permits: live.claim.permits }));
  }

  /**
   * Publishes what the wait is for, about each lease that is held now, and what it has found;
   * resolves when the store has replied, or the wait is over.
   */
  async publish({ queue, waiter }: WaiterPlace, knot: string, told: boolean): Promise<void> {
    const holds = this.#held;
    if (this.#over || waiter.settled || holds.length === 0) return;
    this.knot = knot;
    this.told = told;
    this.#turn++;
    const { resource, kind, limit } = queue.spec;
    const { label = this.#services.settings.label } = waiter.options;
    const note: WaitNote = {
      ...{ id: this.id, resource, kind, limit, holds, knot, told, turn: this.#turn },
      permits: kind === 'permits' ? this.acquisition.permits : kind === 'read' ? 1 : limit,
      holder: label === undefined ? this.#who : { ...this.#who, label },
      onDeadlock: this.#parts.onDeadlock,
      sum: holds.reduce((sum, { permits }) => sum + permits, 0),
    };
    const old = this.#posted;
    this.#posted = holds.map((hold) => this.#post(hold, labelOf(note, hold)));
    await Promise.all(this.#posted.map(({ settled }) => settled));
    for (const each of old) void each.claim.release();
  }

  /** Takes the notes out of the store, in the background. */
  end(): void {
    this.#over = true;
    for (const { claim, settle } of this.#posted) {
      void claim.release();
      settle();
    }
  }

  #post(hold: WaitingHold, label: string): Posted {
    let settle = (): void => {};
    const settled = new Promise<void>((resolve) => (settle = resolve));
    const { ttlMs } = this.#services.settings;
    const claim: Claim = {
      ...{ resource: noteName(hold.resource), id: randomId(), ttlMs, queue: false },
      ...{ kind: 'permits', permits: 1, limit: MAX_PERMITS, holder: { ...this.#who, label } },
    };
    const spec = { heartbeat: true, ttlMs, minHoldMs: 0 };
    const gone = (): void => {
      // The next look publishes it again.
      this.#posted = this.#posted.filter((each) => each.claim !== live);
      settle();
    };
    const handOn = (): undefined => undefined;
    const claimant = { spec, granted: settle, gone, failed: gone, lost: gone, handOn };
    const live: LiveClaim = new LiveClaim(this.#services, claim, claimant);
    return { hold, claim: live, settled, settle };
  }
}
