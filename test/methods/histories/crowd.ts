/** Real processes on one store, which are tormented while they write down what they do. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { simulatedClock } from 'holdfast/testkit';
import { HANG_MS, paced } from '../../support/this-run.ts';
import { machineMs } from '../processes/children/talk.ts';
import { Counters } from './counters.ts';
import { type History, historyOf } from './history.ts';
import { bundledClient, Member } from './member.ts';
import type { LockOperation } from './models.ts';

export interface CrowdOptions {
  /** A URL; `{folder}` becomes a folder of this crowd alone. */
  readonly store: string;
  /** Default 4, with 3 tasks each. */
  readonly processes?: number;
  readonly tasks?: number;
  /** Of the processes, beside that of this one. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Default all that can be done. */
  readonly faults?: readonly Fault[];
  /** What the store is on, if it can suffer as well. */
  readonly server?: Sufferer | undefined;
  /** Default 400 ms, on a quiet machine. */
  readonly ttlMs?: number | undefined;
  /** For a control: what the clients do not look at. */
  readonly without?: 'lease' | 'fence' | undefined;
}

/**
 * `stop`: SIGSTOP for longer than the TTL; `pause`: for less; `kill`: SIGKILL, and a new process
 * follows; `block`: the event loop stands still for longer than the TTL, between look and write.
 */
type ClientFault = 'stop' | 'pause' | 'kill' | 'block';
/** It stands still, for less than the TTL or for more; or it crashes, and its data with it. */
type ServerFault = 'server stop' | 'server crash';
export type Fault = ClientFault | ServerFault;

const CLIENT_FAULTS: readonly Fault[] = ['stop', 'pause', 'kill', 'block'];
const SERVER_FAULTS: readonly Fault[] = ['server stop', 'server crash'];
export const FAULTS: readonly Fault[] = [...CLIENT_FAULTS, ...SERVER_FAULTS];

export interface Sufferer {
  pause(): void;
  resume(): void;
  /** Ends and begins again, without its data. */
  crash(): Promise<void>;
}

/** One history: it goes on until so many operations were answered, and each fault was done. */
export interface Course {
  /** Chooses the faults; what they meet is left to the machine. */
  readonly seed: number;
  readonly operations: number;
}

export interface Recorded {
  readonly history: History;
  readonly faults: readonly Fault[];
  /** The folder of the logs. */
  readonly logs: string;
}

/** Four heartbeats and more fit in, even when the machine is busy. */
const TTL_MS = paced(400);

export class Crowd {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdfast-history-'));
  readonly #options: CrowdOptions;
  readonly #counters: Counters;
  readonly #ttlMs: number;
  readonly #members = new Set<Member>();
  readonly #broken: Promise<never>;
  #break: (error: Error) => void = () => {};
  #program = '';
  /** That of the history which is under way. */
  #course = { name: '', logs: new Map<string, string>(), answered: 0 };
  #histories = 0;
  #closed = false;
  #answeredAt = 0;

  static async start(options: CrowdOptions): Promise<Crowd> {
    const crowd = new Crowd(options);
    try {
      crowd.#program = await bundledClient(crowd.#folder);
      const { processes = 4 } = options;
      await crowd.#unless(Promise.all(Array.from({ length: processes }, () => crowd.#join())));
      return crowd;
    } catch (error) {
      await crowd.close();
      throw error;
    }
  }

  private constructor(options: CrowdOptions) {
    this.#options = options;
    this.#ttlMs = options.ttlMs ?? TTL_MS;
    this.#counters = Counters.create(join(this.#folder, 'counters.db'));
    this.#broken = new Promise((_, reject) => (this.#break = reject));
    this.#broken.catch(() => {});
  }

  /** Everybody works until there is enough, while now and then something happens to somebody. */
  async record({ seed, operations }: Course): Promise<Recorded> {
    const name = `history ${++this.#histories}`;
    const logs = join(this.#folder, name);
    mkdirSync(logs);
    this.#course = { name, logs: new Map(), answered: 0 };
    for (const member of this.#members) this.#begin(member);
    const faults = await this.#unless(this.#torment(seed, operations));
    await this.#unless(Promise.all([...this.#members].map((member) => member.end())));
    return { history: this.#history(), faults, logs };
  }

  /** @param options.keep leaves the logs. */
  async close({ keep = false }: { readonly keep?: boolean } = {}): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#members].map((member) => member.kill()));
    this.#counters.close();
    if (!keep) rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  #history(): History {
    const history = historyOf(this.#course.logs, this.#ttlMs);
    const reads = [...new Set(history.counter.map(({ resource = '' }) => resource))].map(
      (resource) => {
        const calledAt = machineMs();
        const output = this.#counters.read(resource);
        const times = { calledAt, returnedAt: machineMs() };
        return { resource, ...times, input: { verb: 'read' }, output } as const;
      },
    );
    // A server that may have lost its data refuses a try although nobody holds.
    const tells = ({ output }: LockOperation): boolean => !this.#options.server || output !== false;
    return { lock: history.lock.filter(tells), counter: [...history.counter, ...reads] };
  }

  /** Each fault in its turn, as many answers apart as makes them last for all of it. */
  async #torment(seed: number, operations: number): Promise<Fault[]> {
    const { server } = this.#options;
    const { faults = server ? FAULTS : CLIENT_FAULTS } = this.#options;
    const { random } = simulatedClock(seed);
    const coming = [...faults];
    const done: Fault[] = [];
    const restarts: Promise<void>[] = [];
    while (coming.length > 0) {
      await this.#answered((operations * done.length) / faults.length);
      await sleep(this.#ttlMs * (0.3 + random()));
      const [fault] = coming.splice(Math.floor(random() * coming.length), 1);
      const members = [...this.#members];
      const member = members[Math.floor(random() * members.length)];
      if (!fault || !member) break;
      // Some just past the TTL, where a holder may be a moment too sure, some far beyond.
      const ms = this.#ttlMs * (1 + 1.5 * random() ** 2);
      done.push(fault);
      if (fault === 'server crash') await server?.crash();
      else if (fault === 'server stop') await stopServer(server, ms / 2);
      else if (fault === 'kill') restarts.push(this.#replace(member));
      else if (fault === 'block') member.block(ms);
      else await member.stop(fault === 'stop' ? ms : ms / 4);
    }
    await Promise.all(restarts);
    await this.#answered(operations);
    return done;
  }

  /** Waits for so many answers, or the end. */
  async #answered(count: number): Promise<void> {
    while (this.#course.answered < count && !this.#closed) await sleep(10);
  }

  /** The others go on meanwhile, and so do the faults. */
  async #replace(member: Member): Promise<void> {
    this.#members.delete(member);
    await member.kill();
    this.#begin(await this.#join());
  }

  #begin(member: Member): void {
    const { name, logs } = this.#course;
    const who = `process ${logs.size + 1}`;
    const log = join(this.#folder, name, `${who}.log`);
    logs.set(who, log);
    member.begin(name, log);
  }

  async #join(): Promise<Member> {
    const { store, without, env, tasks = 3 } = this.#options;
    const folder = this.#folder;
    const member = await Member.start({
      ...{ program: this.#program, env },
      options: {
        store: store.replace('{folder}', folder),
        // Those who share a server do not meet.
        prefix: `${folder}:`,
        counters: join(folder, 'counters.db'),
        ...{ tasks, without, ttl: this.#ttlMs },
      },
      onAnswers: (count) => {
        this.#course.answered += count;
        this.#answeredAt = performance.now();
      },
      onEnd: this.#break,
    });
    this.#members.add(member);
    return member;
  }

  /** Rejects if a process ends by itself, or if nothing happens any more. */
  async #unless<T>(work: Promise<T>): Promise<T> {
    this.#answeredAt = performance.now();
    const watch = setInterval(() => {
      if (performance.now() - this.#answeredAt < HANG_MS) return;
      this.#break(new Error('No process does anything any more.'));
    }, 1_000);
    try {
      return await Promise.race([work, this.#broken]);
    } finally {
      clearInterval(watch);
    }
  }
}

async function stopServer(server: Sufferer | undefined, ms: number): Promise<void> {
  server?.pause();
  await sleep(ms);
  server?.resume();
}
