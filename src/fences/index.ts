export type { FencingToken } from '../contract/token.ts';
export type { SqlTransaction } from '../database-locks/clients.ts';
export { TransactionError } from '../database-locks/errors.ts';
export type { EnterToken } from './entering.ts';
export { FenceHeadersError, type FenceHeadersFault, StaleTokenError } from './errors.ts';
export {
  type EtcdEntry,
  type EtcdFence,
  type EtcdFenceOptions,
  type EtcdTransactions,
  etcdFence,
} from './etcd-fence.ts';
export {
  type FenceFromOptions,
  type FenceHeadersOptions,
  type FenceSecret,
  fenceFrom,
  fenceHeaders,
  type HeaderSource,
  type RequestSource,
} from './headers.ts';
export {
  type ConditionalPut,
  type HttpObjectsOptions,
  httpObjects,
  type ObjectAccess,
  type StoredObject,
} from './object-access.ts';
export type { ObjectFormat } from './object-document.ts';
export {
  type ObjectEntry,
  type ObjectFence,
  type ObjectFenceOptions,
  objectFence,
} from './object-fence.ts';
export type { RedisCommand, RedisEntry, RedisReply, RedisValue } from './redis-entry.ts';
export { type RedisFence, type RedisFenceOptions, redisFence } from './redis-fence.ts';
export { type SqlFence, type SqlFenceOptions, type SqliteFence, sqlFence } from './sql-fence.ts';
export type { SqliteConnection } from './sqlite-rows.ts';
export {
  type ZookeeperCheck,
  type ZookeeperEntry,
  type ZookeeperFence,
  type ZookeeperFenceOptions,
  type ZookeeperNodes,
  zookeeperFence,
} from './zookeeper-fence.ts';
