/** For authors of stores: the contract, the queue with the rule of admission, and failures. */
export { admissible, limitOf, type Standing, sameQueue } from './contract/admission.ts';
export { StoreError, toStoreError } from './contract/errors.ts';
export * from './contract/store.ts';
export type { QueueJson } from './queue/json.ts';
export { ClaimQueue } from './queue/queue.ts';
export type { Entry, KeptUntil, QueueState, Tombstone } from './queue/state.ts';
