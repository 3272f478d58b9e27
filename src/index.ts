export { admissible, limitOf, type Standing, sameQueue } from './admission.ts';
export { type Clock, systemClock, type Timer, type TimeSources } from './clock.ts';
export { type Duration, parseDuration } from './duration.ts';
export * from './errors.ts';
export type {
  Acquisition,
  HandOff,
  LockEventName,
  LockEvents,
  MissReason,
} from './events.ts';
export type { Lease, LeaseState } from './lease.ts';
export {
  type AsyncMethod,
  type LockedCall,
  type LockedDecorator,
  type LockedOptions,
  locked,
} from './locked.ts';
export { createLocks, Locks, type RwLock } from './locks.ts';
export type {
  ElectionOptions,
  EvictOptions,
  LockOptions,
  LocksOptions,
  SemaphoreOptions,
} from './options.ts';
export type {
  CampaignOptions,
  Candidate,
  CandidateState,
  Election,
  Term,
} from './primitives/election.ts';
export type { Held, TryResult, Work } from './primitives/lockable.ts';
export type { MultiLease, MultiLock } from './primitives/multi-lock.ts';
export type { ObservedStandings, ObserveOptions, Standings } from './primitives/observing.ts';
export type { Done, OnceOptions, OnceResult, Ran, Running } from './primitives/once.ts';
export type { RefreshOptions } from './primitives/refresh.ts';
export type { SingleLock } from './primitives/single-lock.ts';
export { currentLease } from './reentrancy.ts';
export * from './store.ts';
export type { AcquireOptions } from './task.ts';
