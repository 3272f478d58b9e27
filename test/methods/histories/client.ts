/** One of the processes of a history: its tasks take locks, count behind them, and write a log. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AcquireOptions, Lease, Lock, Locks, Store } from 'holdfast';
import { createLocks, isLockError } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { aroundStore } from 'holdfast/testkit';
import { machineMs } from '../processes/children/talk.ts';
import { Counters } from './counters.ts';
import { Log, type Request } from './log.ts';
import type { CounterOutput, LockOutput } from './models.ts';

export interface ClientOptions {
  /** A URL; that of a store of your own begins with `module:`. */
  readonly store: string;
  readonly prefix: string;
  readonly counters: string;
  readonly tasks: number;
  readonly ttl: number;
  /** As a control, it never looks whether a lease is held, or it writes past the fence. */
  readonly without: 'lease' | 'fence' | undefined;
}

/** To begin with a history, whose name its resources have; to end it; or to stand still. */
export type Order =
  | { readonly history: string; readonly log: string }
  | { readonly end: true }
  | { readonly blockMs: number };

/** How many operations were answered since it last said so; or it has ended a history. */
export type News = { readonly answered: number } | 'ready' | 'ended';

const WHOLE = 2 ** 30;
const PERMITS = 3;
/** It says so after so many operations. */
const BATCH = 20;

const options = JSON.parse(process.argv[2] ?? '') as ClientOptions;
const { ttl, without } = options;
const counters = new Counters(options.counters, { fenced: without !== 'fence' });
let log: Log;
let history = '';
let working = false;
let answered = 0;
/** How long to stand still at the next opportunity. */
let blockMs = 0;
/** Requests to release that have no answer, by resource. */
const unanswered = new Map<string, number>();
const locks = createLocks(watched(await openStore(options.store)), { ttl, prefix: options.prefix });

process.on('message', (order: Order) => {
  if ('blockMs' in order) blockMs += order.blockMs;
  else if ('end' in order) working = false;
  else void work(order.history, order.log);
});
process.once('disconnect', () => process.exit());
tell('ready');

function tell(news: News): void {
  process.send?.(news);
}

async function work(named: string, path: string): Promise<void> {
  history = named;
  log = new Log(path);
  working = true;
  const task = async (): Promise<void> => {
    while (working) await round();
  };
  await Promise.all(Array.from({ length: options.tasks }, task));
  log.close();
  tell('ended');
}

function result(call: number, output: LockOutput | CounterOutput): void {
  log.result(call, output);
  answered = (answered + 1) % BATCH;
  if (answered === 0) tell({ answered: BATCH });
}

function watched(store: Store): Store {
  return aroundStore(store, async ({ verb, claims }, next) => {
    if (verb !== 'release') return next();
    const add = (n: number): void => {
      for (const { resource } of claims) {
        unanswered.set(resource, (unanswered.get(resource) ?? 0) + n);
      }
    };
    add(1);
    const answer = await next();
    add(-1);
    return answer;
  });
}

type Choice = { readonly lock: Lock; readonly request: Request };

async function round(): Promise<void> {
  const { lock, request } = choose(locks);
  const { resource } = lock;
  const { verb, permits, limit } = request;
  const asked = limit === PERMITS ? { permits } : {};
  const call = log.call(resource, request);
  const lease = await ask(lock, verb, asked);
  if (lease !== undefined) result(call, lease?.token ?? false);
  else await sleep(ttl / 4);
  if (lease) await hold(lease, call, permits === limit);
  await sleep(Math.random() * 4);
}

/** A store that did not answer leaves the outcome unknown: undefined, and no result in the log. */
async function ask(
  lock: Lock,
  verb: Request['verb'],
  asked: AcquireOptions,
): Promise<Lease | null | undefined> {
  try {
    return await (verb === 'acquire' ? lock.acquire(asked) : lock.tryAcquire(asked));
  } catch (error) {
    if (isLockError(error, 'STORE')) return undefined;
    throw error;
  }
}

function choose(from: Locks): Choice {
  const fair = Math.random() < 0.5;
  const named = (name: string): string => `${history} ${fair ? 'fair ' : ''}${name}`;
  const verb = Math.random() < 0.3 ? 'try' : 'acquire';
  const choice = (lock: Lock, permits: number, limit: number): Choice => {
    return { lock, request: { verb, permits, limit } };
  };
  const kind = Math.random() * 3;
  if (kind < 1) return choice(from.mutex(named('mutex'), { fair }), 1, 1);
  if (kind < 2) {
    const lock = from.semaphore(named('permits'), { limit: PERMITS, fair });
    return choice(lock, Math.random() < 0.7 ? 1 : 2, PERMITS);
  }
  const { read, write } = from.rwLock(named('rw'), { fair });
  return Math.random() < 0.6 ? choice(read, 1, WHOLE) : choice(write, WHOLE, WHOLE);
}

/** Works without a look at the lease, as careless programs do; the fence has to stop it. */
async function hold(lease: Lease, call: number, exclusive: boolean): Promise<void> {
  look(lease, call);
  if (lease.kind === 'permits') await sleep(Math.random() * 4);
  else await count(lease, call, exclusive);
  const held = look(lease, call);
  const release = log.call(lease.resource, { verb: 'release', of: call });
  await lease.release();
  if (held && !unanswered.get(lease.resource)) result(release, true);
}

async function count(lease: Lease, call: number, exclusive: boolean): Promise<void> {
  const { resource, token } = lease;
  const entering = log.call(resource, { verb: 'enter', token, shared: !exclusive });
  const value = await counters.enter(lease, resource);
  result(entering, value);
  await sleep(Math.random() * 3);
  if (!exclusive || value === 'stale') return;
  look(lease, call);
  block();
  const writing = log.call(resource, { verb: 'increment', token });
  result(writing, await counters.write(lease, resource, value + 1));
}

/** The time is read first, so that the lease was held at that time at least. */
function look(lease: Lease, call: number): boolean {
  const at = machineMs();
  const held = without === 'lease' || lease.held;
  if (held) log.held(call, at);
  return held;
}

/** Nothing of this process runs meanwhile, heartbeats included. */
function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
  blockMs = 0;
}
