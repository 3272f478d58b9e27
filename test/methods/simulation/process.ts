/**
 * A process of the simulated world: its own clock, its own way to the store, its own `Locks`.
 *
 * It stands still as a stopped process does: while the world goes on, its timers do not fire and
 * what arrives for it waits. That may happen between any two things it does, for whenever it reads
 * the clock chance may have stopped it a moment before: from there on its clock shows the time at
 * which it goes on, what it sends leaves then, and nothing reaches it earlier. When it goes on,
 * timers and messages come in any order, as they do from an event loop.
 * A crash cuts it off for ever; what it had sent is still on its way.
 */
import type { Timer } from 'holdfast';
import { type Clock, createLocks, type Locks, type LocksOptions, type Store } from 'holdfast';
import { answered, aroundStore, type ChaosStore, chaosStore, type Weather } from 'holdfast/testkit';
import type { Chance } from './chance.ts';
import type { Checks } from './checks.ts';
import type { Entry } from './schedule.ts';
import type { Server } from './server.ts';
import type { Course } from './trace.ts';

export interface ProcessOptions {
  readonly name: string;
  readonly chance: Chance;
  /** Seconds of its clock in a second of the world. */
  readonly rate: number;
  /** How often it stands still when it reads the clock, as a share. */
  readonly stalls: number;
  readonly weather: Partial<Weather>;
  readonly locks: Omit<LocksOptions, 'clock'>;
}

export type Parts = Course & { readonly server: Server; readonly checks: Checks };

/** How early a timer may fire and how late it usually does, in ms. */
const EARLY_MS = 1;
const LATE_MS = 4;
/** The latest, rounding included. */
export const LATEST_MS: number = LATE_MS + 1;

/** The longest pause that chance brings, in ms: some TTLs. */
export const LONGEST_STALL_MS = 2_500;

export class Process implements Clock {
  readonly name: string;
  readonly locks: Locks;
  readonly network: ChaosStore;
  /** Seconds of its clock in a second of the world. */
  readonly rate: number;
  crashed = false;
  /** `close()` has been called. */
  closing = false;
  /** It did something since it was last looked at. */
  stirred = false;
  stoodStill = false;
  /** Of the message that it received last. */
  lineage: string;
  /** Timers of the library that have neither fired nor been cleared. */
  timers = 0;
  readonly #options: ProcessOptions;
  readonly #parts: Parts;
  readonly #origin: number;
  #stalls: number;
  #stalledUntil = 0;
  #backlog = { timer: [] as (() => void)[], message: [] as (() => void)[] };
  #asleep = false;
  /** What came while it stood still and is let in now. */
  #late = 0;
  #peeking = false;
  /** A timer is running. */
  #firing = false;

  constructor(parts: Parts, options: ProcessOptions) {
    this.name = options.name;
    this.rate = options.rate;
    this.#parts = parts;
    this.#options = options;
    this.#origin = parts.schedule.now;
    this.#stalls = options.stalls;
    const { schedule, server } = parts;
    const clock = schedule.clock(options.chance.next);
    const notice = (mishap: string): void => parts.trace.count(`fault: ${mishap}`);
    this.network = chaosStore(server.connect(this), { clock, notice, ...options.weather });
    this.lineage = this.network.lineage;
    this.locks = createLocks(this.#connection(), { ...options.locks, clock: this });
    parts.checks.follow(this);
  }

  /** It stands still at this moment of the world. */
  get stalled(): boolean {
    return this.#parts.schedule.now < this.#stalledUntil;
  }

  /** Nothing that it should have heard of by now is still waiting for it. */
  get prompt(): boolean {
    return !this.#asleep && this.#late === 0;
  }

  /** Where it is on the world's clock: ahead, if it stands still. */
  get at(): number {
    return Math.max(this.#parts.schedule.now, this.#stalledUntil);
  }

  readonly random = (): number => this.#options.chance.next();

  readonly now = (): number => {
    const { schedule } = this.#parts;
    if (this.#peeking) return this.#view(schedule.now);
    if (this.#stalls > 0 && this.random() < this.#stalls) {
      this.stall(this.#options.chance.between(1, LONGEST_STALL_MS));
    }
    return this.#view(this.at);
  };

  /** Reads the clock without a pause. */
  peek<T>(look: () => T): T {
    this.#peeking = true;
    const seen = look();
    this.#peeking = false;
    return seen;
  }

  setTimeout(run: () => void, ms: number): Timer {
    const timer: Pending = { run, ref: () => timer, unref: () => timer };
    this.timers++;
    const late = this.random() * (EARLY_MS + LATE_MS) - EARLY_MS;
    const due = this.at + Math.max(0, ms / this.rate + late);
    timer.entry = this.#parts.schedule.at(due, () =>
      this.deliver(() => this.#fire(timer), 'timer'),
    );
    return timer;
  }

  clearTimeout(timer: Pending): void {
    if (!timer.run) return;
    timer.run = undefined;
    this.timers--;
    if (timer.entry) this.#parts.schedule.cancel(timer.entry);
  }

  /**
   * What a timer puts off is done after the input of its turn. Otherwise core only ever parks
   * something for its next turn if a pause came between, and then the turn waits for the pause to
   * end; so what is left of it here sets nothing in motion.
   */
  setImmediate(run: () => void): void {
    this.#parts.schedule.at(this.at, () => this.deliver(run), !this.#firing);
  }

  stall(ms: number): void {
    if (this.crashed) return;
    const { schedule, trace } = this.#parts;
    this.stoodStill = true;
    this.#asleep = true;
    trace.count('fault: pause');
    trace.add(this.name, `stands still for ${ms.toFixed(0)} ms`);
    this.#stalledUntil = this.at + ms;
    schedule.at(this.#stalledUntil, () => this.#goOn());
  }

  /** From now on it stands still only if it is told to. */
  steady(): void {
    this.#stalls = 0;
    this.network.change(CALM);
  }

  crash(): void {
    this.#parts.trace.count('fault: crash');
    this.#parts.trace.add(this.name, 'crashes');
    this.crashed = true;
    this.#parts.checks.buried(this);
  }

  /** Runs as soon as it does not stand still; never, once it has crashed. */
  deliver(run: () => void, what: 'timer' | 'message' = 'message'): void {
    if (this.crashed) return;
    if (this.stalled) this.#backlog[what].push(run);
    else {
      this.stirred = true;
      run();
    }
  }

  /** For work of its own, not the library's. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#parts.schedule.at(this.at + ms, () => this.deliver(resolve, 'timer'));
    });
  }

  #fire(timer: Pending): void {
    const { run } = timer;
    if (!run) return;
    timer.run = undefined;
    this.timers--;
    this.#firing = true;
    run();
    this.#firing = false;
  }

  #view(world: number): number {
    return EPOCH_MS + (world - this.#origin) * this.rate;
  }

  /** What came meanwhile is let in one after the other. */
  #goOn(): void {
    if (this.stalled || this.crashed) return;
    this.#asleep = false;
    const { timer, message } = this.#backlog;
    this.#backlog = { timer: [], message: [] };
    while (timer.length > 0 || message.length > 0) {
      const line = this.#options.chance.share(0.5) ? timer : message;
      const what = line === timer ? 'timer' : 'message';
      const run = line.shift();
      if (!run) continue;
      this.#late++;
      this.#parts.schedule.after(0, () => {
        this.#late--;
        this.deliver(run, what);
      });
    }
  }

  /** The network, as far as this process is awake to use it. */
  #connection(): Store {
    const { network } = this;
    const lineage = (): string => this.lineage;
    const far = aroundStore(network, ({ verb, claims }, next) => {
      this.#parts.checks.sends(this, verb, claims);
      return this.#exchange(next);
    });
    return {
      ...far,
      get lineage() {
        return lineage();
      },
      watch: async (claim, wake) => {
        const subscribed = await this.#exchange(
          () =>
            network.watch?.(claim, (hint) => {
              const { lineage } = network;
              this.deliver(() => {
                this.lineage = lineage;
                this.#parts.checks.hinted(this, hint);
                wake(hint);
              });
            }) as Promise<AsyncDisposable>,
        );
        this.#parts.checks.watched(claim);
        return subscribed;
      },
    };
  }

  async #exchange<T>(next: () => Promise<T>): Promise<T> {
    if (this.stalled) await new Promise<void>((go) => this.deliver(go));
    const outcome = await next().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const { lineage } = this.network;
    if (this.stalled || this.crashed) await new Promise<void>((go) => this.deliver(go));
    this.stirred = true;
    if ('error' in outcome) throw outcome.error;
    this.lineage = lineage;
    return outcome.value;
  }
}

interface Pending extends Timer {
  run: (() => void) | undefined;
  entry?: Entry;
}

/** What its clock shows when it starts. */
const EPOCH_MS = 1_000;

/** What remains of the weather once the world has healed. */
const CALM: Partial<Weather> = { ...answered, delayMs: [0, 3], duplicate: 0, lateHint: 0 };
