export type { Entry } from './entry.ts';
export type { QueueJson } from './json.ts';
export { ClaimQueue } from './queue.ts';
export type { KeptUntil, QueueState, Tombstone } from './state.ts';
