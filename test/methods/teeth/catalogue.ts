import type { Fault, Faults } from './fault.ts';
import { DOCUMENT_FAULTS } from './faults/documents.ts';
import { ETCD_FAULTS } from './faults/etcd.ts';
import { FENCE_FAULTS } from './faults/fences.ts';
import { INTEROP_FAULTS } from './faults/interop.ts';
import { KUBERNETES_FAULTS } from './faults/kubernetes.ts';
import { LOCK_FAULTS } from './faults/locks.ts';
import { MYSQL_FAULTS } from './faults/mysql.ts';
import { POSTGRES_FAULTS } from './faults/postgres.ts';
import { QUORUM_FAULTS } from './faults/quorum.ts';
import { REDIS_FAULTS } from './faults/redis.ts';
import { SQL_FAULTS } from './faults/sql.ts';
import { SQLITE_FAULTS } from './faults/sqlite.ts';
import { ZOOKEEPER_FAULTS } from './faults/zookeeper.ts';

/**
 * Every fault that the tests have to notice: the worst of those that the files warn of, which make
 * two holders, a token that goes back, or a lock that is held for ever. Most are in Lua, in SQL and
 * in what servers, files and other programs read, for no tool can make faults there.
 */
export const FAULTS: readonly Fault[] = [
  ...[LOCK_FAULTS, SQLITE_FAULTS, REDIS_FAULTS, SQL_FAULTS, POSTGRES_FAULTS],
  ...[MYSQL_FAULTS, ETCD_FAULTS, ZOOKEEPER_FAULTS, DOCUMENT_FAULTS, KUBERNETES_FAULTS],
  ...[QUORUM_FAULTS, FENCE_FAULTS, INTEROP_FAULTS],
].flatMap(listOf);

function listOf(faults: Faults): Fault[] {
  return Object.entries(faults).map(([name, fault]) => ({ name, ...fault }));
}
