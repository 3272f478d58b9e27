export { StaleTokenError, TransactionError } from '../errors.ts';
export type { SqlTransaction } from '../sql/clients.ts';
export type { FencingToken } from '../store.ts';
export {
  type EnterToken,
  type SqlFence,
  type SqlFenceOptions,
  type SqliteFence,
  sqlFence,
} from './sql-fence.ts';
export type { SqliteConnection } from './sqlite-rows.ts';
