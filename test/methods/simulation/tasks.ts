/**
 * What the processes of a world do: everything that users of the library do with it, drawn by
 * chance. Whoever holds something looks at it again and again, writes to the ledger under it, and
 * sometimes goes on although its signal has aborted, as real work does.
 */
import type { Lease, Lock, LockOptions } from 'holdfast';
import { allOf, downgrade, evict, isLockError, tryAllOf } from 'holdfast';
import { createElection } from 'holdfast/election';
import type { Chance } from './chance.ts';
import type { Checks } from './checks.ts';
import type { Ledger } from './ledger.ts';
import { LONGEST_STALL_MS, type Process } from './process.ts';
import type { Trace } from './trace.ts';

export interface Scene {
  readonly chance: Chance;
  readonly trace: Trace;
  readonly checks: Checks;
  readonly ledger: Ledger;
  /** Which resources there are; few of them, so that processes meet. */
  readonly themes: readonly Theme[];
  /** Every TTL of this world is one of these, in ms. */
  readonly ttls: readonly number[];
  /** Most locks have the same options, so that tasks of one process share a claim. */
  readonly alike: boolean;
  /** Evictions at once are allowed. */
  readonly force: boolean;
  /** Chance makes no more trouble. */
  readonly healed: () => boolean;
  /** One of the processes begins another task, now. */
  readonly begin: (name: string, task: (process: Process) => Promise<string>) => void;
}

export type Theme = 'mutex' | 'rw' | 'semaphore' | 'all' | 'election' | 'newest' | 'hand over';

/** Work fails, sometimes. */
class WorkError extends Error {}

/** Why waits are aborted. */
const ENOUGH = new Error('enough');

type Act = { readonly scene: Scene; readonly process: Process; readonly chance: Chance };

/** One task of a process, from beginning to end. */
export function perform(scene: Scene, process: Process): Promise<string> {
  const act: Act = { scene, process, chance: scene.chance.fork() };
  const theme = act.chance.one(scene.themes);
  scene.trace.count(`task: ${theme}`);
  return settle(scene, theme, () => ACTS[theme](act));
}

/** It must settle, and fail only as documented. */
async function settle(scene: Scene, theme: Theme, task: () => Promise<string>): Promise<string> {
  try {
    return `${theme}: ${await task()}`;
  } catch (error) {
    if (error === ENOUGH || error instanceof WorkError) return `${theme}: ${String(error)}`;
    if (!isLockError(error)) throw error;
    scene.trace.count(`error: ${error.code}`);
    const { reason } = error as { readonly reason?: string };
    if (reason === 'resumed') scene.trace.count('told that another has resumed it');
    if (error.code === 'USAGE' || error.code === 'UNSUPPORTED') throw error;
    return `${theme}: ${error.code}`;
  }
}

const ACTS: Record<Theme, (act: Act) => Promise<string>> = {
  mutex: (act) => {
    const own = options(act);
    return take(act, act.process.locks.mutex(act.chance.one(MUTEXES), own), own);
  },
  rw: async (act) => {
    const own = options(act);
    const lock = act.process.locks.rwLock('rw', own);
    return take(act, act.chance.share(0.5) ? lock.read : lock.write, own);
  },
  semaphore: async (act) => {
    const { chance } = act;
    const limit = chance.one([2, 2, 2, 3, 1]);
    const { fair: _, ...rest } = options(act);
    const lock = act.process.locks.semaphore('sem', { ...rest, limit });
    return take(act, lock, rest, { permits: chance.between(1, limit) });
  },
  all: async (act) => {
    const { locks } = act.process;
    const parts = [
      ...MUTEXES.map((name) => locks.mutex(name, options(act, true))),
      locks.rwLock('rw').read,
    ];
    act.chance.shuffle(parts);
    const some = parts.slice(0, act.chance.between(1, 3));
    // In a divided world each resource is a part of its own.
    if (!act.process.network.partOf && act.chance.share(0.4)) return tryAll(act, some);
    await allOf(some).run(waits(act), (lease) => work(act, lease.leases));
    return 'done';
  },
  election: campaign,
  newest: async (act) => {
    const { chance, process } = act;
    const lock = process.locks.mutex(chance.one(MUTEXES), options(act));
    const ifBusy = chance.one(['replace-waiting', 'replace'] as const);
    await lock.run({ ...waits(act), ifBusy }, (lease) => work(act, [lease]));
    return 'ran';
  },
  'hand over': async (act) => {
    const { locks } = act.process;
    const own = options(act);
    const { fair: _, ...rest } = own;
    const lock = act.chance.one<Lock>([
      ...MUTEXES.map((name) => locks.mutex(name, own)),
      locks.rwLock('rw', own).write,
      locks.semaphore('sem', { ...rest, limit: 2 }),
    ]);
    return holdThenPass(act, await lock.acquire(waits(act)), Number(own.minHold ?? 0));
  },
};

/** Takes them in one step, if they are free. */
async function tryAll(act: Act, parts: readonly Lock[]): Promise<string> {
  const { wait: _, ...limits } = waits(act);
  const lease = await tryAllOf(parts, limits);
  if (!lease) return 'were not free';
  try {
    await work(act, lease.leases);
  } finally {
    await lease.release();
  }
  act.scene.trace.count('several in one step');
  return 'held at once';
}

const MUTEXES = ['m', 'n'] as const;

/** Options of a lock. */
function options({ chance, scene }: Act, plain = false): LockOptions {
  if (scene.alike && !chance.share(0.2)) return { ttl: scene.ttls[1] as number };
  const ttl = chance.one(scene.ttls);
  if (plain) return { ttl };
  return chance.one<LockOptions>([
    ...[{ ttl }, { ttl }, { ttl: scene.ttls[0] as number }, { ttl, fair: true }],
    ...[
      { ttl, fair: true },
      { ttl, reentrant: true },
      { ttl, heartbeat: false },
    ],
    ...[
      { ttl, minHold: chance.between(20, ttl) },
      { ttl, maxHold: chance.between(60, 900) },
    ],
  ]);
}

/** How long a wait may last, and what ends it. */
function waits({ chance, process, scene }: Act): { wait?: number; signal?: AbortSignal } {
  const wait = chance.share(0.25) ? { wait: chance.between(0, 2_000) } : {};
  if (!chance.share(0.2)) return wait;
  const aborter = new AbortController();
  void process.sleep(chance.between(0, 2_500)).then(() => {
    scene.trace.count('abort');
    aborter.abort(ENOUGH);
  });
  return { ...wait, signal: aborter.signal };
}

/** Any of the four ways to take a lock. */
async function take(
  act: Act,
  lock: Lock,
  { minHold = 0 }: LockOptions,
  extra: { readonly permits?: number } = {},
): Promise<string> {
  const { chance } = act;
  const held = (lease: Lease): Promise<void> => work(act, [lease], Number(minHold));
  const inside = async (lease: Lease): Promise<void> => {
    await held(lease);
    await nested(act, lock, lease);
  };
  const { wait, ...rest } = { ...waits(act), ...extra };
  const limits = wait === undefined ? rest : { ...rest, wait };
  const way = chance.below(8);
  if (way < 4) return lock.run(limits, inside).then(() => 'ran');
  if (way < 5) {
    const result = await lock.tryRun(rest, inside);
    return result.acquired ? 'ran at once' : 'was not free';
  }
  const lease = way < 7 ? await lock.acquire(limits) : await lock.tryAcquire(rest);
  if (!lease) return 'was not free';
  try {
    await held(lease);
  } finally {
    const released = lease.release();
    if (chance.share(0.2)) void lease.release();
    await released;
  }
  return 'held';
}

/** Works under a lease, and hands it over or releases it. */
async function holdThenPass(act: Act, lease: Lease, minHoldMs = 0): Promise<string> {
  const { chance, scene } = act;
  try {
    await work(act, [lease], minHoldMs);
    if (!chance.share(0.6)) return 'held';
    const text = await lease.handOver();
    scene.trace.count('handed over');
    for (let taker = chance.one([0, 1, 1, 1, 1, 2, 2]); taker > 0; taker--) {
      scene.begin(`taker ${taker} of ${lease.resource} ${lease.token}`, (another) =>
        settle(scene, 'hand over', () => resume({ ...act, process: another }, text)),
      );
    }
    return 'handed over';
  } finally {
    await lease.release();
  }
}

/** Goes on with what was handed over, if nobody else does. */
async function resume(act: Act, text: string): Promise<string> {
  const { chance, process, scene } = act;
  await process.sleep(chance.one([0, 0, 0, 5, 50, 300]));
  const ttl = chance.one(scene.ttls);
  return holdThenPass(act, await process.locks.resume(text, { ttl, ...waits(act) }));
}

/** Enters what it holds once more: re-entrantly, or else it must be told that it cannot. */
async function nested(act: Act, lock: Lock, lease: Lease): Promise<void> {
  const { chance, scene, process } = act;
  if (!chance.share(0.1)) return;
  let inside = 0;
  const entries = Array.from({ length: chance.between(1, 2) }, async () => {
    // Whoever asks for more of a semaphore than it has might wait for another who does the same.
    const entered = await lock
      .run({ wait: 300 }, async (inner) => {
        scene.checks.look(process, inner);
        if (inside++ > 0 && inner.kind !== 'permits') scene.trace.fail('two nested runs at once');
        await process.sleep(chance.between(0, 100));
        inside--;
        return inner.token === lease.token;
      })
      .catch((error: unknown) => {
        if (!isLockError(error)) throw error;
        return undefined;
      });
    if (entered) scene.trace.count('entered again');
  });
  await Promise.all(entries);
}

/** What is done under leases that have just been taken. */
async function work(act: Act, leases: readonly Lease[], minHoldMs = 0): Promise<void> {
  const { chance, scene, process } = act;
  for (const each of leases) scene.checks.handed(process, each, minHoldMs);
  const heeds = chance.share(0.5);
  const [lease] = leases as [Lease];
  const read = chance.share(0.4) ? await enter(act, lease) : undefined;
  const steps = chance.below(5);
  for (let step = 0; step < steps; step++) {
    await process.sleep(chance.one([0, 1, 20, 100, 400]));
    for (const each of leases) scene.checks.look(process, each);
    if (heeds && leases.some((each) => each.signal.aborted)) break;
    await meddle(act, lease);
  }
  if (read !== undefined) scene.ledger.send(lease, read);
  if (chance.share(0.05)) throw new WorkError('the work failed');
}

/** Enters the ledger: the request is on its way for a while, and so is the answer. */
async function enter({ chance, scene, process }: Act, lease: Lease): Promise<number | undefined> {
  if (lease.kind !== 'mutex' && lease.kind !== 'write') return undefined;
  await process.sleep(chance.below(10));
  const read = scene.ledger.enter(lease);
  await process.sleep(chance.below(10));
  return read;
}

/** Something that holders do now and then. */
async function meddle({ chance, scene, process }: Act, lease: Lease): Promise<void> {
  const what = chance.below(24);
  if (what === 0) await lease.renew().catch(expected);
  if (what === 1 && lease.kind === 'write') {
    await downgrade(lease).then(() => scene.trace.count('downgraded'), expected);
  }
  if (scene.healed()) return;
  if (what === 2) process.stall(chance.between(1, LONGEST_STALL_MS));
  if (what === 3) await evictOne(scene, process, chance).catch(expected);
}

function expected(error: unknown): void {
  if (!isLockError(error)) throw error;
}

/** Takes somebody's lock away, or somebody's place in a queue. */
async function evictOne(scene: Scene, process: Process, chance: Chance): Promise<void> {
  const name = chance.one(['m', 'n', 'rw', 'sem', 'seat']);
  const { holders, waiters } = await process.locks.inspect(name);
  const all = [...holders, ...waiters];
  if (all.length === 0) return;
  const now = scene.force && chance.share(0.3);
  const { number: token } = chance.one(all);
  const evicted = await evict(process.locks, name, { token, reason: 'test', now });
  if (evicted) scene.trace.count(now ? 'fault: eviction at once' : 'fault: eviction');
}

/** Stands for election, leads a few terms, and resigns or leaves. */
async function campaign(act: Act): Promise<string> {
  const { chance, scene, process } = act;
  const election = createElection(process.locks, 'seat', {
    ttl: chance.one(scene.ttls),
    seats: chance.one([1, 1, 1, 2]),
  });
  const { signal } = waits(act);
  const candidate = election.campaign(signal ? { signal } : {});
  const terms = chance.between(1, 3);
  if (chance.share(0.3)) {
    void process.sleep(chance.between(0, 3_000)).then(() => candidate.resign());
  }
  let led = 0;
  try {
    for await (const { lease } of candidate) {
      await work(act, [lease]);
      if (++led === terms) break;
    }
  } finally {
    await candidate.resign();
  }
  scene.trace.count('led');
  return `led ${led} times`;
}
