export { type Clock, systemClock, type Timer, type TimeSources } from './base/clock.ts';
export { type Duration, parseDuration } from './base/duration.ts';
export {
  isLockError,
  LockError,
  type LockErrorCode,
  type LockErrorOptions,
  UsageError,
} from './base/errors.ts';
export { TransactionError } from './clients/sql/errors.ts';
export type { TransactionFailure } from './clients/sql/failures.ts';
export { ClosedError, StoreError, UnsupportedError } from './contract/errors.ts';
export type { Holder, Kind, Member, Queue, Store, Takeover, Traits } from './contract/store.ts';
export type { FencingToken } from './contract/token.ts';
export type { AcquireOptions } from './core/acquire-options.ts';
export type { Inspection } from './core/engine.ts';
export {
  AcquireTimeoutError,
  DeadlockError,
  LeaseLostError,
  type LossReason,
  MismatchError,
  QueueFullError,
} from './core/errors.ts';
export type { Acquisition, HandOff, LockEventName, LockEvents, MissReason } from './core/events.ts';
export type { Lease, LeaseState } from './core/lease.ts';
export type { IfBusy } from './core/newest.ts';
export { ConflictError } from './database-locks/optimistic.ts';
export { FenceHeadersError, type FenceHeadersFault, StaleTokenError } from './fences/errors.ts';
export {
  type AsyncMethod,
  type LockedCall,
  type LockedDecorator,
  type LockedOptions,
  locked,
} from './integrations/decorator/locked.ts';
export { createLocks, Locks } from './locks.ts';
export { closeOnSignal } from './operators/close-on-signal.ts';
export { type DeadlockOptions, detectDeadlocks } from './operators/deadlocks/detect-deadlocks.ts';
export { holding } from './operators/deadlocks/holding.ts';
export { waitsOf } from './operators/deadlocks/notes.ts';
export { type EvictOptions, evict } from './operators/evict.ts';
export { list } from './operators/list.ts';
export { ready } from './operators/ready.ts';
export { type Refusal, refusalOf } from './operators/refusal.ts';
export { downgrade } from './primitives/downgrade.ts';
export type { Mutex, ReadLock, RwLock, Semaphore, WriteLock } from './primitives/kinds.ts';
export type { Lock } from './primitives/lock.ts';
export type {
  LockOptions,
  LocksOptions,
  SemaphoreOptions,
} from './primitives/lock-options.ts';
export type { Held, TryResult, Work } from './primitives/lockable.ts';
export { allOf, type MultiLease, type MultiLock } from './primitives/multi-lock.ts';
export { currentLease } from './primitives/reentrancy.ts';
export type { ResumeOptions } from './primitives/resume.ts';
export { tryAllOf } from './primitives/try-all-of.ts';
export type {
  PublishedWait,
  Waiting,
  WaitingHold,
  WaitReason,
} from './store-calls/waiting.ts';
