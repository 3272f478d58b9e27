/** For authors of stores: the contract, the queue with the rule of admission, and failures. */
export { admissible, limitOf, type Standing, sameQueue } from './contract/admission.ts';
export { StoreError, toStoreError } from './contract/errors.ts';
export { type HandOver, IN_TRANSIT } from './contract/hand-over.ts';
export { type Kept, MAX_KEPT_BYTES, MAX_KEPT_MS, type RecordTerms } from './contract/records.ts';
export * from './contract/store.ts';
export type { QueueJson } from './queue/json.ts';
export { ClaimQueue } from './queue/queue.ts';
export type { Entry, KeptUntil, QueueState, Tombstone } from './queue/state.ts';
