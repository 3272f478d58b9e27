export { StaleTokenError } from '../errors.ts';
export type { FencingToken } from '../store.ts';
export {
  type EnterToken,
  type SqlFence,
  type SqlFenceOptions,
  type SqliteConnection,
  sqlFence,
} from './sql-fence.ts';
