import { isLockError } from '../../base/errors.ts';
import type { HandOff, LockEvents } from '../../core/events.ts';
import type { WaitReason } from '../../store-calls/waiting.ts';
import type { Attributes, Context, Meter } from './api.ts';

/** In seconds: from a hand-off inside a process to long work. */
const BUCKETS = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800,
];

/** The parts of an acquisition that metrics use. */
export interface Measured {
  readonly attributes: Attributes;
  /** The context that asked for the lock: the parent of both spans. */
  readonly caller: Context;
}

function instrumentsOf(meter: Meter) {
  const count = (name: string, what: string, description: string) =>
    meter.createCounter(`holdfast.${name}`, { unit: `{${what}}`, description });
  const level = (name: string, what: string, description: string) =>
    meter.createUpDownCounter(`holdfast.${name}`, { unit: `{${what}}`, description });
  const time = (name: string, description: string) => {
    const advice = { explicitBucketBoundaries: BUCKETS };
    return meter.createHistogram(`holdfast.${name}.duration`, { unit: 's', description, advice });
  };
  return {
    acquisitions: count('acquisitions', 'acquisition', 'Finished attempts to take a lock.'),
    waitTime: time('wait', 'Time from the request for a lock to its outcome.'),
    holdTime: time('hold', 'Time from the grant of a lock to its release or loss.'),
    waiters: level('waiters', 'waiter', 'Tasks of this process that wait for a lock now.'),
    leases: level('leases', 'lease', 'Locks that this process holds now.'),
    losses: count('losses', 'lease', 'Locks lost before their holder released them.'),
    handOffs: count('hand_offs', 'hand_off', HAND_OFFS),
    heartbeats: count('heartbeats', 'claim', 'Claims in heartbeats, each counted every time.'),
    quarantines: count('quarantines', 'claim', QUARANTINES),
    deadlocks: count('deadlocks', 'wait', DEADLOCKS),
  };
}

const HAND_OFFS = 'Locks taken over from the last holder, in this process or through the store.';
const QUARANTINES = 'Claims not granted because the store is new or has lost its data.';
const DEADLOCKS = 'Waits of this process that detection has found in a deadlock.';

export class Measures {
  readonly #on: ReturnType<typeof instrumentsOf>;

  constructor(meter: Meter) {
    this.#on = instrumentsOf(meter);
  }

  waits({ attributes, caller }: Measured, change: 1 | -1): void {
    this.#on.waiters.add(change, attributes, caller);
  }

  answered({ attributes, caller }: Measured, answer: MeasuredWait): void {
    const outcome = answer.missed?.why ?? 'acquired';
    const all: Attributes = { ...attributes, 'holdfast.outcome': outcome };
    if (answer.why) all['holdfast.wait.why'] = answer.why;
    if (answer.missed && isFailure(answer.missed)) {
      all['error.type'] = errorType(answer.missed.error);
    }
    this.#on.acquisitions.add(1, all, caller);
    this.#on.waitTime.record(answer.seconds, all, caller);
  }

  holds({ attributes, caller }: Measured, change: 1 | -1): void {
    this.#on.leases.add(change, attributes, caller);
  }

  handedOn({ attributes, caller }: Measured, type: HandOff): void {
    this.#on.handOffs.add(1, { ...attributes, 'holdfast.hand_off.type': type }, caller);
  }

  ended({ attributes, caller }: Measured, end: { how: string; seconds: number }): void {
    this.#on.holdTime.record(end.seconds, { ...attributes, 'holdfast.hold.end': end.how }, caller);
  }

  lost(attributes: Attributes, reason: string): void {
    this.#on.losses.add(1, { ...attributes, 'holdfast.loss.reason': reason });
  }

  stuck(attributes: Attributes): void {
    this.#on.deadlocks.add(1, attributes);
  }

  beaten({ store, claims, failed, cause }: LockEvents['heartbeat']): void {
    const known = { 'holdfast.store': store };
    if (claims > failed) this.#on.heartbeats.add(claims - failed, known);
    if (failed > 0) this.#on.heartbeats.add(failed, { ...known, 'error.type': errorType(cause) });
  }

  putOff({ store }: LockEvents['quarantine']): void {
    this.#on.quarantines.add(1, { 'holdfast.store': store });
  }
}

interface MeasuredWait {
  readonly seconds: number;
  readonly missed?: LockEvents['missed'];
  /** Why it waited, if that is known. */
  readonly why: WaitReason | undefined;
}

/** A taken lock and an aborted wait are not errors. */
export function isFailure({ why }: LockEvents['missed']): boolean {
  return why === 'timeout' || why === 'failed';
}

/** The value of `error.type`: one of few. */
export function errorType(error: unknown): string {
  return isLockError(error) ? error.code : '_OTHER';
}
