export { type RefreshOptions, refresh } from './refresh.ts';
export { RefreshError } from './refresh-error.ts';
