import { isLockError } from '../../base/errors.ts';
import type { LockEvents } from '../../core/events.ts';
import type { Counter, Histogram, Meter } from './api.ts';

/** In seconds: from a hand-off inside a process to long work. */
const BUCKETS = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800,
];

export interface Measures {
  readonly acquisitions: Counter;
  readonly waitTime: Histogram;
  readonly holdTime: Histogram;
  readonly waiters: Counter;
  readonly leases: Counter;
  readonly losses: Counter;
  readonly handOffs: Counter;
  readonly heartbeats: Counter;
  readonly quarantines: Counter;
  readonly deadlocks: Counter;
}

export function measuresOf(meter: Meter): Measures {
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

/** A taken lock, and a wait that was aborted or replaced, are not errors. */
export function isFailure({ why }: LockEvents['missed']): boolean {
  return why === 'timeout' || why === 'failed';
}

/** The value of `error.type`: one of few. */
export function errorType(error: unknown): string {
  return isLockError(error) ? error.code : '_OTHER';
}
