export { RefreshError, type RefreshOptions, refresh } from './refresh.ts';
