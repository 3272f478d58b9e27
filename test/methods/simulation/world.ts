/**
 * A small world: a few processes, one server, a network, and everything that may go wrong.
 *
 * In the model: messages are delayed, lost, repeated and reordered without bounds; processes stand
 * still anywhere for any time, and crash; the server restarts, with its memory or without it, and
 * then grants nothing for as long as the longest TTL; clocks run at rates that differ by less than
 * the drift that core allows for; claims are evicted and end with their TTL; in worlds in which
 * nothing else goes wrong, one part of the server hangs or fails while the others answer.
 * Out of the model: clocks that run at other rates or jump on the server, a store that forgets and
 * grants at once, and an eviction `now`. There two may believe to hold the same lock, and only the
 * fence keeps what they write apart.
 * After some seconds everything heals: then every wait must end, every process must be able to
 * close, and nothing may be left in it or in the store.
 */
import { Chance } from './chance.ts';
import { Checks } from './checks.ts';
import { drawTrouble, strike, type Trouble } from './faults.ts';
import { Grants } from './grants.ts';
import { Ledger } from './ledger.ts';
import { Process } from './process.ts';
import { Schedule } from './schedule.ts';
import { Server } from './server.ts';
import { perform, type Scene, type Theme } from './tasks.ts';
import { Trace } from './trace.ts';

export type Outcome = { readonly seed: number; readonly trace: Trace; readonly steps: number };

const TTLS = [200, 400, 1_000];

type Task = (process: Process) => Promise<string>;

/** One of them may be away while the others answer. */
const PARTS = [undefined, 'm', 'm', 'n', 'rw', 'sem'] as const;

/** Tasks begin, and things go wrong, in so many ms. */
const BUSY_MS = 3_000;

/** So long after the world has healed, every task must be done, in ms: far more than all holds. */
const PATIENCE_MS = 90_000;

/** So long every close may take, with its drain, in ms. */
const CLOSING_MS = 20_000;

/** By then the last copies have arrived and the last TTL has ended, in ms. */
const SETTLED_MS = 8_000;

const THEMES: readonly (readonly Theme[])[] = [
  ...([['mutex'], ['mutex'], ['mutex'], ['rw'], ['rw', 'semaphore'], ['semaphore']] as const),
  ...([['all', 'mutex'], ['all', 'rw'], ['election'], ['election', 'mutex']] as const),
];

/** What goes on beside that in some worlds; by the seed, so that all other worlds stay as is. */
const BESIDE_EVERY = 8;
const BESIDE: Readonly<Record<number, Theme>> = { 2: 'hand over', 4: 'newest', 6: 'hand over' };

export class World {
  readonly schedule: Schedule = new Schedule();
  readonly trace: Trace;
  readonly server: Server;
  readonly ledger: Ledger;
  readonly checks: Checks;
  over = false;
  readonly #seed: number;
  readonly #chance: Chance;
  readonly #trouble: Trouble;
  readonly #scene: Scene;
  readonly #processes: Process[] = [];
  readonly #tasks = new Map<string, Process>();
  readonly #closings = new Map<Process, boolean>();
  #healed = false;
  #ending = false;

  /** @param keep whether to keep the lines of the trace. */
  constructor(seed: number, keep = false) {
    this.#seed = seed;
    const chance = new Chance(seed);
    this.#chance = chance;
    const { schedule } = this;
    this.trace = new Trace(() => schedule.now, keep);
    const { trace } = this;
    const trouble = drawTrouble(chance, Math.max(...TTLS));
    this.#trouble = trouble;
    const grants = new Grants(schedule, trace);
    const { quarantineMs, inModel } = trouble;
    const maxWaiters = chance.share(0.1) ? 2 : 100;
    const away = trouble.calm ? chance.one(PARTS) : undefined;
    const options = { quarantineMs, maxWaiters, parted: away !== undefined };
    this.server = new Server({ schedule, trace, grants }, options);
    this.checks = new Checks({ schedule, trace, grants, inModel, away });
    const { lineage } = this.server.memory;
    this.ledger = new Ledger({ schedule, trace, chance: chance.fork() }, lineage);
    const { checks, ledger } = this;
    const healed = (): boolean => this.#healed;
    const begin: Scene['begin'] = (name, task) => this.#begin(name, task);
    const more = BESIDE[seed % BESIDE_EVERY];
    const drawn = chance.one(THEMES);
    const scene = { themes: more ? [...drawn, more] : drawn, ttls: TTLS, healed, begin };
    const moods = { alike: chance.share(0.4), force: chance.share(0.2) };
    this.#scene = { ...scene, ...moods, chance: chance.fork(), trace, checks, ledger };
    trace.count(inModel ? 'world in the model' : 'world out of the model');
    this.#populate(away);
  }

  /** Processes that have neither crashed nor been closed. */
  get alive(): Process[] {
    return this.#processes.filter(({ crashed, closing }) => !crashed && !closing);
  }

  get outcome(): Outcome {
    return { seed: this.#seed, trace: this.trace, steps: this.schedule.steps };
  }

  /** Lets the next thing happen, after all that the last one set in motion has come to rest. */
  step(): void {
    for (const process of this.#processes) {
      if (!process.stirred) continue;
      process.stirred = false;
      this.checks.measure(process);
    }
    if (this.trace.problems.length > 0) this.over = true;
    else if (!this.schedule.step()) throw new Error(`World ${this.#seed} ended too early.`);
  }

  /** A process ends, and another one takes its place. */
  replace(process: Process, end: () => void): void {
    end();
    if (this.#healed) return;
    const { name } = this.#spawn();
    this.trace.add(name, `takes the place of ${process.name}`);
  }

  close(process: Process, chance: Chance): void {
    const drain = chance.one([0, 50, 500, 2_000]);
    this.trace.add(process.name, `closes, and waits for ${drain} ms`);
    this.trace.count('close');
    process.closing = true;
    this.#closings.set(process, false);
    void process.locks.close({ drain }).then(() => {
      this.trace.add(process.name, 'has closed');
      this.#closings.set(process, true);
    });
  }

  #populate(away: string | undefined): void {
    const chance = this.#chance;
    const processes = chance.between(2, 4);
    for (let i = 0; i < processes; i++) this.#spawn();
    const tasks = chance.between(8, 16);
    for (let i = 0; i < tasks; i++) {
      const task: Task = (process) => perform(this.#scene, process);
      this.schedule.at(chance.below(BUSY_MS), () => this.#begin(`task ${i}`, task));
    }
    for (let i = 0; i < this.#trouble.events; i++) {
      const { inModel } = this.#trouble;
      this.schedule.at(chance.below(BUSY_MS + 1_000), () => strike(this, chance, inModel));
    }
    if (away !== undefined) {
      const part = { resource: away, hangs: chance.share(0.5) };
      this.schedule.at(chance.below(BUSY_MS), () => this.server.losePart(part));
    }
    this.schedule.at(BUSY_MS + 1_500, () => this.#heal());
  }

  #spawn(): Process {
    const { schedule, trace, server, checks } = this;
    const { rate, drift, stalls, weather } = this.#trouble;
    const process = new Process(
      { schedule, trace, server, checks },
      {
        name: `p${this.#processes.length + 1}`,
        chance: this.#chance.fork(),
        rate: rate(this.#chance),
        ...{ stalls, weather, locks: { ttl: 1_000, maxTtl: Math.max(...TTLS), drift } },
      },
    );
    this.#processes.push(process);
    return process;
  }

  #begin(name: string, task: Task): void {
    const process = this.#chance.one(this.alive);
    if (!process) return;
    this.#tasks.set(name, process);
    process.deliver(() => {
      this.trace.add(process.name, `begins ${name}`);
      task(process)
        .then((end) => this.trace.add(process.name, `ends ${name}: ${end}`))
        .catch((error: unknown) => {
          this.trace.fail(`${name} of ${process.name} failed: ${describe(error)}`);
        })
        .finally(() => {
          this.#tasks.delete(name);
          this.#endEarly();
        });
    });
  }

  #heal(): void {
    this.trace.add('world', 'heals');
    this.#healed = true;
    this.server.start();
    for (const process of this.#processes) process.steady();
    this.schedule.after(PATIENCE_MS, () => this.#end());
    this.#endEarly();
  }

  /** Nobody has to wait for what will not come. */
  #endEarly(): void {
    const waited = [...this.#tasks.values()].some(({ crashed }) => !crashed);
    if (this.#healed && !waited) this.schedule.after(1, () => this.#end());
  }

  #end(): void {
    if (this.#ending) return;
    this.#ending = true;
    for (const [name, { crashed, name: process }] of this.#tasks) {
      if (!crashed) this.trace.fail(`${name} of ${process} never ended`);
    }
    for (const process of this.alive) this.close(process, this.#chance);
    this.schedule.after(CLOSING_MS, () => this.#closed());
  }

  #closed(): void {
    for (const [process, closed] of this.#closings) {
      if (!closed && !process.crashed) this.trace.fail(`${process.name} did not close`);
    }
    this.schedule.after(SETTLED_MS, () => void this.#settle());
  }

  async #settle(): Promise<void> {
    for (const { name, timers, crashed } of this.#processes) {
      if (!crashed && timers > 0) this.trace.fail(`${timers} timers are left in ${name}`);
    }
    for await (const resource of this.server.memory.list?.('') ?? []) {
      this.trace.fail(`claims on ${resource} are left in the store`);
    }
    this.checks.finish();
    this.ledger.finish();
    this.trace.add('world', 'ends');
    this.over = true;
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
