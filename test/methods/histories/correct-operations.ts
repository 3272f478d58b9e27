import { simulatedClock } from '../../../src/testkit/simulated-clock.ts';
import type { CounterOperation, CounterState, LockOperation, LockState } from './models.ts';
import { counterModel, lockModel } from './models.ts';

const WHOLE = 2 ** 30;

export type LockKind = 'mutex' | 'rw' | 'permits';

/** What may be asked for. */
const SHAPES: Record<LockKind, readonly { readonly permits: number; readonly limit: number }[]> = {
  mutex: [{ permits: 1, limit: 1 }],
  rw: [
    { permits: 1, limit: WHOLE },
    { permits: 1, limit: WHOLE },
    { permits: WHOLE, limit: WHOLE },
  ],
  permits: [1, 2, 3].map((permits) => ({ permits, limit: 3 })),
};

export interface Recorded {
  readonly lock: readonly LockOperation[];
  /** What the holders did behind the fence; nothing for permits. */
  readonly counter: readonly CounterOperation[];
}

export interface Course {
  readonly seed: number;
  readonly kind: LockKind;
  readonly operations: number;
  /** How often an operation never returns, because its process dies. */
  readonly unknown: number;
  /**
   * How many of them never return at most; default: any. Each may have happened or not, at any time
   * from then on, so each multiplies the orders that a checker has to try.
   */
  readonly mostUnknown?: number;
  readonly processes?: number;
}

interface Actor {
  process: number;
  /** Its next call may come from here on. */
  freeAt: number;
  hold?: { readonly name: string; readonly token: bigint; readonly shared: boolean } | undefined;
}

/**
 * What processes would record of a correct lock and a correct fence. Every operation takes effect
 * at an instant that is drawn first; its call and its return are put around it, and may overlap
 * with many others. A process that dies may leave behind an operation that happens or does not,
 * and a hold that expires, so that later an old token may come to the fence.
 */
export function correctOperations(course: Course): Recorded {
  const { seed, kind, operations, unknown, mostUnknown = Infinity, processes = 6 } = course;
  const { random } = simulatedClock(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const actors: Actor[] = Array.from({ length: processes }, (_, process) => {
    return { process, freeAt: 0 };
  });
  const lock: LockOperation[] = [];
  const counter: CounterOperation[] = [];
  const expiring: string[] = [];
  let locked: LockState = lockModel.init;
  let counted: CounterState = counterModel.init;
  let token = 0n;
  let now = 0;
  let died = processes;
  let unknowns = 0;

  function isUnknown(): boolean {
    if (random() >= unknown || unknowns === mostUnknown) return false;
    unknowns += 1;
    return true;
  }

  /** The times of what this process does at this instant. */
  function times(actor: Actor) {
    const { process } = actor;
    const calledAt = actor.freeAt + random() * (now - actor.freeAt);
    const returnedAt = now + random() * 10;
    actor.freeAt = returnedAt;
    if (!isUnknown()) return { process, calledAt, returnedAt };
    // The process is replaced by a new one, which knows nothing.
    if (actor.hold) expire(actor.hold.name, calledAt);
    Object.assign(actor, { process: died++, hold: undefined, freeAt: now });
    return { process, calledAt };
  }

  function expire(holder: string, calledAt: number): void {
    lock.push({ calledAt, input: { verb: 'release', holder } });
    if (locked.holds.some((hold) => hold.holder === holder)) expiring.push(holder);
  }

  function enter(actor: Actor): void {
    const shape = pick(SHAPES[kind]);
    const verb = pick(['acquire', 'acquire', 'try'] as const);
    const input = { verb, holder: `hold ${lock.length}`, ...shape } as const;
    const next = token + BigInt(1 + Math.floor(random() * 5));
    const granted = lockModel.step(locked, { calledAt: now, input, output: next });
    if (!granted && (verb === 'acquire' || random() < 0.8)) return;
    const when = times(actor);
    const known = 'returnedAt' in when;
    if (known) {
      lock.push({ ...when, input, output: granted ? next : false });
      if (!granted) return;
      [locked, token] = [granted, next];
      const shared = kind === 'rw' && shape.permits === 1;
      actor.hold = { name: input.holder, token, shared };
      return;
    }
    const holder = `lost ${shape.permits}`;
    const lost = { ...when, input: { ...input, holder } };
    lock.push(lost);
    const held = random() < 0.5 && lockModel.step(locked, lost);
    if (held) locked = held;
    expire(holder, when.calledAt);
  }

  function leave(actor: Actor, hold: NonNullable<Actor['hold']>): void {
    if (isUnknown()) {
      // It finds its lease lost: it last believed at its last return, and goes on working.
      expire(hold.name, actor.freeAt);
      actor.hold = undefined;
      late.push({ actor, hold });
      return;
    }
    actor.hold = undefined;
    const input = { verb: 'release', holder: hold.name } as const;
    const when = times(actor);
    lock.push({ ...when, input, ...('returnedAt' in when && { output: true }) });
    if ('returnedAt' in when || random() < 0.5) release(hold.name);
    else expiring.push(hold.name);
  }

  function release(holder: string): void {
    const freed = lockModel.step(locked, { calledAt: now, input: { verb: 'release', holder } });
    if (freed) locked = freed;
  }

  function count(actor: Actor, hold: NonNullable<Actor['hold']>): void {
    const verb = hold.shared ? 'enter' : pick(['enter', 'increment'] as const);
    const input = { verb, token: hold.token, ...(hold.shared && { shared: true }) } as const;
    const after = counterModel.step(counted, { calledAt: now, input });
    const when = times(actor);
    if (!('returnedAt' in when)) {
      counter.push({ ...when, input });
      if (after && random() < 0.5) counted = after;
      return;
    }
    counted = after ?? counted;
    counter.push({ ...when, input, output: after ? after.value : 'stale' });
  }

  const late: { readonly actor: Actor; readonly hold: NonNullable<Actor['hold']> }[] = [];
  while (lock.length + counter.length < operations) {
    now += random();
    if (expiring.length > 0 && random() < 0.2) release(expiring.shift() ?? '');
    const overtaken = late.findIndex(({ actor: { freeAt }, hold }) => {
      return freeAt < now && counted.fence > hold.token && random() < 0.05;
    });
    for (const { actor, hold } of overtaken < 0 ? [] : late.splice(overtaken, 1)) {
      actor.freeAt = Math.max(actor.freeAt, now - 2);
      count(actor, hold);
    }
    const actor = pick(actors);
    if (actor.freeAt >= now) continue;
    if (!actor.hold) enter(actor);
    else if (kind !== 'permits' && random() < 0.5) count(actor, actor.hold);
    else leave(actor, actor.hold);
  }
  const output = counted.value;
  const end = now + 100;
  counter.push({ calledAt: end, returnedAt: end + 1, input: { verb: 'read' }, output });
  return { lock, counter };
}
