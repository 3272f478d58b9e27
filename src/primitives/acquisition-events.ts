/**
 * The events around the life of a lease: a caller asks for a lock, gets none, or the work of `run`
 * begins.
 *
 * Invariant: every `acquiring` is followed by one `acquired` or one `missed` with the same
 * acquisition. It is emitted in the caller's asynchronous context, before any request to the store,
 * so a listener may read that context. A listener can only choose the context of the work: the work
 * runs once, and the listener cannot change its outcome.
 * What would break it: awaiting before the first event, or leaving the outcome to the listener.
 */
import { isLockError } from '../base/errors.ts';
import type { GoneStatus } from '../contract/store.ts';
import type { AcquireOptions } from '../core/acquire-options.ts';
import type { AcquireTimeoutError } from '../core/errors.ts';
import { type Acquisition, type Events, type MissReason, warnOf } from '../core/events.ts';
import type { Lease } from '../core/lease.ts';
import { type Waiting, waitingOf } from '../store-calls/waiting.ts';
import type { Scope } from './lockable.ts';

/** An acquisition with listeners. */
export interface AcquireAttempt {
  readonly acquisition: Acquisition;
  readonly waits: boolean;
  readonly options: AcquireOptions;
  take(options: AcquireOptions): Promise<Lease | null>;
}

/** Emits `acquiring`, takes the lock, and emits `missed` if it got none. */
export function withEvents(events: Events, attempt: AcquireAttempt): Promise<Lease | null> {
  const { acquisition, waits, options } = attempt;
  const { resource, kind } = acquisition;
  let refusal: GoneStatus | undefined;
  const refused = (status: GoneStatus): void => {
    refusal = status;
  };
  const missed = (why: MissReason, error: unknown, waiting: Waiting | undefined): void => {
    events.emit('missed', { resource, kind, why, error, waiting, acquisition });
  };
  events.emit('acquiring', { resource, kind, waits, acquisition });
  const taking = attempt.take({ ...options, acquisition, refused });
  taking.then(
    (lease) => lease ?? missed('taken', undefined, waitingOf({ queue: refusal })),
    (error: unknown) => {
      const why = reasonOf(error, options.signal);
      missed(why, error, why === 'timeout' ? (error as AcquireTimeoutError) : undefined);
    },
  );
  return taking;
}

function reasonOf(error: unknown, signal: AbortSignal | undefined): MissReason {
  if (signal?.aborted && error === signal.reason) return 'aborted';
  return isLockError(error, 'ACQUIRE_TIMEOUT') ? 'timeout' : 'failed';
}

/** The same scope, with work in the contexts that the listeners of `working` choose. */
export function inContexts(scope: Scope, events: Events, lease: Lease): Scope {
  const contextsOf = <T>(work: () => T): (() => T) => {
    let around = work;
    const within = (run: (work: () => void) => void): void => {
      const inner = around;
      around = () => runBy(run, inner);
    };
    events.emit('working', { ...lease.identity(), within });
    return around;
  };
  return {
    inside: (work) => scope.inside(contextsOf(work)),
    close: () => scope.close(),
  };
}

function runBy<T>(run: (work: () => void) => void, work: () => T): T {
  let outcome: (() => T) | undefined;
  const once = (): void => {
    if (outcome) return;
    try {
      const value = work();
      outcome = () => value;
    } catch (error) {
      outcome = () => {
        throw error;
      };
    }
  };
  try {
    run(once);
  } catch (error) {
    warnOf('working', error);
  }
  once();
  return (outcome as unknown as () => T)();
}
