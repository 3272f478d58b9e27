export type {
  ConditionalPut,
  ObjectAccess,
  StoredObject,
} from '../clients/objects/access.ts';
export { probeObjects } from '../clients/objects/probe.ts';
export type { SqlTransaction } from '../clients/sql/clients.ts';
export { TransactionError } from '../clients/sql/errors.ts';
export type { FencingToken } from '../contract/token.ts';
export { FenceHeadersError, type FenceHeadersFault, StaleTokenError } from './errors.ts';
export {
  type EtcdEntry,
  type EtcdFenceOptions,
  type EtcdTransactions,
  etcdFence,
} from './etcd.ts';
export type { EnterToken, Fence, FenceEntry } from './fence.ts';
export {
  type FenceFromOptions,
  fenceFrom,
  fenceHeaders,
  type HeaderSource,
  type RequestSource,
} from './headers.ts';
export { type ObjectEntry, type ObjectFenceOptions, objectFence } from './objects/fence.ts';
export type { RedisCommand, RedisEntry, RedisReply, RedisValue } from './redis/entry.ts';
export { type RedisFence, type RedisFenceOptions, redisFence } from './redis/fence.ts';
export { type SqlFence, type SqlFenceOptions, sqlFence } from './sql/fence.ts';
export type { SqliteConnection } from './sql/sqlite.ts';
export {
  type ZookeeperCheck,
  type ZookeeperEntry,
  type ZookeeperFenceOptions,
  type ZookeeperNodes,
  zookeeperFence,
} from './zookeeper.ts';
