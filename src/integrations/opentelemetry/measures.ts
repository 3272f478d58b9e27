import type { HandOff, LockEvents } from '../../core/events.ts';
import type { WaitReason } from '../../store-calls/waiting.ts';
import type { Attributes, Context, Counter, Histogram, Meter } from './api.ts';
import { errorType } from './attributes.ts';

/** In seconds: from a hand-off inside a process to long work. */
const BUCKETS = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800,
];

const advice = { explicitBucketBoundaries: BUCKETS };

/** The parts of an acquisition that metrics use. */
export interface Measured {
  readonly attributes: Attributes;
  readonly caller: Context;
}

export class Measures {
  readonly #acquisitions: Counter;
  readonly #waitTime: Histogram;
  readonly #holdTime: Histogram;
  readonly #waiters: Counter;
  readonly #leases: Counter;
  readonly #losses: Counter;
  readonly #handOffs: Counter;
  readonly #heartbeats: Counter;
  readonly #quarantines: Counter;
  readonly #deadlocks: Counter;

  constructor(meter: Meter) {
    this.#acquisitions = meter.createCounter('holdfast.acquisitions', {
      unit: '{acquisition}',
      description: 'Finished attempts to take a lock.',
    });
    this.#waitTime = meter.createHistogram('holdfast.wait.duration', {
      unit: 's',
      description: 'Time from the request for a lock to its outcome.',
      advice,
    });
    this.#holdTime = meter.createHistogram('holdfast.hold.duration', {
      unit: 's',
      description: 'Time from the grant of a lock to its release or loss.',
      advice,
    });
    this.#waiters = meter.createUpDownCounter('holdfast.waiters', {
      unit: '{waiter}',
      description: 'Tasks of this process that wait for a lock now.',
    });
    this.#leases = meter.createUpDownCounter('holdfast.leases', {
      unit: '{lease}',
      description: 'Locks that this process holds now.',
    });
    this.#losses = meter.createCounter('holdfast.losses', {
      unit: '{lease}',
      description: 'Locks lost before their holder released them.',
    });
    this.#handOffs = meter.createCounter('holdfast.hand_offs', {
      unit: '{hand_off}',
      description: 'Locks taken over from the last holder, in this process or through the store.',
    });
    this.#heartbeats = meter.createCounter('holdfast.heartbeats', {
      unit: '{claim}',
      description: 'Claims in heartbeats, each counted every time.',
    });
    this.#quarantines = meter.createCounter('holdfast.quarantines', {
      unit: '{claim}',
      description: 'Claims not granted because the store has lost its memory.',
    });
    this.#deadlocks = meter.createCounter('holdfast.deadlocks', {
      unit: '{wait}',
      description: 'Waits of this process that detection has found in a deadlock.',
    });
  }

  waits({ attributes, caller }: Measured, change: 1 | -1): void {
    this.#waiters.add(change, attributes, caller);
  }

  answered({ attributes, caller }: Measured, answer: MeasuredWait): void {
    const outcome = answer.missed?.why ?? 'acquired';
    const all: Attributes = { ...attributes, 'holdfast.outcome': outcome };
    if (answer.why) all['holdfast.wait.why'] = answer.why;
    if (answer.missed && isFailure(answer.missed)) {
      all['error.type'] = errorType(answer.missed.error);
    }
    this.#acquisitions.add(1, all, caller);
    this.#waitTime.record(answer.seconds, all, caller);
  }

  holds({ attributes, caller }: Measured, change: 1 | -1): void {
    this.#leases.add(change, attributes, caller);
  }

  handedOn({ attributes, caller }: Measured, type: HandOff): void {
    this.#handOffs.add(1, { ...attributes, 'holdfast.hand_off.type': type }, caller);
  }

  ended({ attributes, caller }: Measured, end: { how: string; seconds: number }): void {
    this.#holdTime.record(end.seconds, { ...attributes, 'holdfast.hold.end': end.how }, caller);
  }

  lost(attributes: Attributes, reason: string): void {
    this.#losses.add(1, { ...attributes, 'holdfast.loss.reason': reason });
  }

  stuck(attributes: Attributes): void {
    this.#deadlocks.add(1, attributes);
  }

  beaten({ store, claims, failed, cause }: LockEvents['heartbeat']): void {
    const known = { 'holdfast.store': store };
    if (claims > failed) this.#heartbeats.add(claims - failed, known);
    if (failed > 0) this.#heartbeats.add(failed, { ...known, 'error.type': errorType(cause) });
  }

  putOff({ store }: LockEvents['quarantine']): void {
    this.#quarantines.add(1, { 'holdfast.store': store });
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
