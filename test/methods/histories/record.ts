/** Runs real processes on one store, torments them, and judges what they wrote down. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulatedClock } from 'holdfast/testkit';
import { programOf } from '../../support/program-of.ts';
import { paced } from '../../support/this-run.ts';
import type { ClientOptions } from './client.ts';
import { Counters } from './counters.ts';
import { type History, historyOf } from './history.ts';
import { checkLinearizability, type Linearizability } from './linearizability.ts';
import { machineMs } from './log.ts';
import {
  type CounterInput,
  type CounterOutput,
  counterModel,
  type LockInput,
  type LockOperation,
  type LockOutput,
  lockModel,
} from './models.ts';

export interface RecordOptions {
  /** A URL; `{folder}` becomes a folder of this history alone. */
  readonly store: string;
  readonly seconds: number;
  /** Chooses the faults; what they meet is left to the machine. */
  readonly seed: number;
  /** Default 4, with 3 tasks each. */
  readonly processes?: number;
  /** Of the processes, beside that of this one. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Default all that can be done. */
  readonly faults?: readonly Fault[];
  /** What the store is on, if it can suffer as well. */
  readonly server?: Sufferer | undefined;
  /** Default 400 ms. */
  readonly ttlMs?: number | undefined;
  /** Keeps the logs of a history that is not legal. */
  readonly keep?: boolean;
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

export interface Judged {
  readonly lock: Linearizability<LockInput, LockOutput>;
  readonly counter: Linearizability<CounterInput, CounterOutput>;
  readonly operations: number;
  /** Operations whose outcome the logs do not tell. */
  readonly unknown: number;
  /** Tries that were refused because somebody held. */
  readonly refused: number;
  /** What the fence refused. */
  readonly stale: number;
  readonly faults: readonly Fault[];
  readonly checkMs: number;
  /** The folder of the logs, if they were kept. */
  readonly logs?: string;
}

/** Four heartbeats and more fit in, even when the machine is busy. */
const TTL_MS = paced(400);

/** How long those who wait at the end may take: many TTLs. */
const PATIENCE_MS = 30_000;

export async function record(options: RecordOptions): Promise<Judged> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-history-'));
  const crowd = new Crowd(folder, options);
  const faults = await crowd.live();
  const judged = judge(crowd.history(), faults);
  if (options.keep && !isLegal(judged)) return { ...judged, logs: folder };
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  return judged;
}

export function isLegal({ lock, counter }: Judged): boolean {
  return lock.verdict === 'legal' && counter.verdict === 'legal';
}

function judge(history: History, faults: readonly Fault[]): Judged {
  const start = performance.now();
  const lock = checkLinearizability(lockModel, history.lock);
  const counter = checkLinearizability(counterModel, history.counter);
  const checkMs = performance.now() - start;
  const all = [...history.lock, ...history.counter];
  const count = (fits: (each: (typeof all)[number]) => boolean): number => all.filter(fits).length;
  return {
    ...{ lock, counter, faults, checkMs, operations: all.length },
    unknown: count(({ returnedAt }) => returnedAt === undefined),
    refused: count(({ output }) => output === false),
    stale: count(({ output }) => output === 'stale'),
  };
}

class Crowd {
  readonly #folder: string;
  readonly #options: RecordOptions;
  readonly #counters: Counters;
  readonly #ttlMs: number;
  /** Those at work, and whoever was ever started. */
  readonly #clients = new Set<ChildProcess>();
  readonly #started: ChildProcess[] = [];
  readonly #logs = new Map<string, string>();
  #until = 0;

  constructor(folder: string, options: RecordOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#ttlMs = options.ttlMs ?? TTL_MS;
    this.#counters = Counters.create(join(folder, 'counters.db'));
  }

  /** Everybody works until the time is over, while now and then something happens to somebody. */
  async live(): Promise<Fault[]> {
    const { processes = 4, seconds } = this.#options;
    try {
      const clients = await Promise.all(Array.from({ length: processes }, () => this.#start()));
      this.#until = machineMs() + seconds * 1000;
      for (const client of clients) this.#go(client);
      const faults = await this.#torment();
      const hanging = setTimeout(() => this.#killAll(), PATIENCE_MS);
      const ends = await Promise.all([...this.#clients].map(exited));
      clearTimeout(hanging);
      const wrong = ends.find((end) => end !== 0);
      if (wrong !== undefined) throw new Error(`A client ended with ${wrong}.`);
      return faults;
    } finally {
      this.#killAll();
    }
  }

  history(): History {
    const history = historyOf(this.#logs, this.#ttlMs);
    const reads = [...new Set(history.counter.map(({ resource = '' }) => resource))].map(
      (resource) => {
        const calledAt = machineMs();
        const output = this.#counters.read(resource);
        const times = { calledAt, returnedAt: machineMs() };
        return { resource, ...times, input: { verb: 'read' }, output } as const;
      },
    );
    this.#counters.close();
    // A server that may have lost its data refuses a try although nobody holds.
    const tells = ({ output }: LockOperation): boolean => !this.#options.server || output !== false;
    return { lock: history.lock.filter(tells), counter: [...history.counter, ...reads] };
  }

  async #torment(): Promise<Fault[]> {
    const { seed, server } = this.#options;
    const { faults = server ? FAULTS : CLIENT_FAULTS } = this.#options;
    const { random } = simulatedClock(seed);
    const done: Fault[] = [];
    const restarts: Promise<void>[] = [];
    for (;;) {
      await sleep(this.#ttlMs * (0.3 + random()));
      if (machineMs() > this.#until) break;
      const fault = faults[Math.floor(random() * faults.length)] ?? 'stop';
      const clients = [...this.#clients];
      const client = clients[Math.floor(random() * clients.length)];
      if (!client) continue;
      // Some just past the TTL, where a holder may be a moment too sure, some far beyond.
      const ms = this.#ttlMs * (1 + 1.5 * random() ** 2);
      done.push(fault);
      if (fault === 'server crash') await server?.crash();
      else if (fault === 'server stop') await stopServer(server, ms / 2);
      else if (fault === 'kill') restarts.push(this.#replace(client));
      else if (fault === 'block') client.send({ blockMs: ms }, ignoreEnd);
      else await stop(client, fault === 'stop' ? ms : ms / 4);
    }
    await Promise.all(restarts);
    return done;
  }

  /** The others go on meanwhile, and so do the faults. */
  async #replace(client: ChildProcess): Promise<void> {
    this.#clients.delete(client);
    client.kill('SIGKILL');
    await exited(client);
    this.#go(await this.#start());
  }

  #go(client: ChildProcess): void {
    this.#clients.add(client);
    client.send({ go: this.#until }, ignoreEnd);
  }

  #killAll(): void {
    for (const client of this.#started) client.kill('SIGKILL');
  }

  async #start(): Promise<ChildProcess> {
    const { store, without, env } = this.#options;
    const name = `process ${this.#logs.size + 1}`;
    const log = join(this.#folder, `${name}.log`);
    this.#logs.set(name, log);
    const options: ClientOptions = {
      store: store.replace('{folder}', this.#folder),
      // Those who share a server do not meet in one history.
      prefix: `${this.#folder}:`,
      counters: join(this.#folder, 'counters.db'),
      log,
      tasks: 3,
      ttl: this.#ttlMs,
      without,
    };
    const { file, execArgv } = programOf('test/methods/histories/client.ts');
    const client = fork(file, [JSON.stringify(options)], {
      execArgv,
      env: { ...process.env, ...env },
    });
    this.#started.push(client);
    await new Promise((resolve, reject) => {
      client.once('message', resolve);
      client.once('exit', (code) => reject(new Error(`A client ended with ${code}.`)));
    });
    return client;
  }
}

/** Whoever is done hears nothing any more. */
function ignoreEnd(): void {}

async function stop(client: ChildProcess, ms: number): Promise<void> {
  client.kill('SIGSTOP');
  await sleep(ms);
  client.kill('SIGCONT');
}

async function stopServer(server: Sufferer | undefined, ms: number): Promise<void> {
  server?.pause();
  await sleep(ms);
  server?.resume();
}

/** How it ended. */
function exited(client: ChildProcess): Promise<unknown> {
  const ended = client.exitCode ?? client.signalCode;
  if (ended !== null) return Promise.resolve(ended);
  return new Promise((resolve) => client.once('exit', (code, signal) => resolve(code ?? signal)));
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
