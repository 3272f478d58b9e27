/** For authors of stores: the contract, the rule of admission, and how to report a failure. */
export { admissible, limitOf, type Standing, sameQueue } from './admission.ts';
export { StoreError, toStoreError } from './errors.ts';
export { type Kept, MAX_KEPT_BYTES, MAX_KEPT_MS } from './records.ts';
export * from './store.ts';
