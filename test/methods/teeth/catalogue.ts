import type { Fault } from './fault.ts';
import { CLAIM_FAULTS } from './faults/claims.ts';
import { COMMAND_LINE_FAULTS } from './faults/command-line.ts';
import { DASHBOARD_FAULTS } from './faults/dashboard.ts';
import { DEADLINE_FAULTS } from './faults/deadline.ts';
import { DEADLOCK_FAULTS } from './faults/deadlocks.ts';
import { DIALECT_FAULTS } from './faults/dialects.ts';
import { DOCUMENT_FAULTS } from './faults/document.ts';
import { ETCD_FAULTS } from './faults/etcd.ts';
import { FENCE_FAULTS } from './faults/fence.ts';
import { HAND_OFF_FAULTS } from './faults/hand-off.ts';
import { HAZELCAST_FAULTS } from './faults/hazelcast.ts';
import { JOB_FAULTS } from './faults/jobs.ts';
import { KUBERNETES_FAULTS } from './faults/kubernetes.ts';
import { MACHINE_FAULTS } from './faults/machine.ts';
import { MEMORY_FAULTS } from './faults/memory.ts';
import { MYSQL_FAULTS } from './faults/mysql.ts';
import { MYSQL_DATABASE_FAULTS } from './faults/mysql-database.ts';
import { NESTJS_FAULTS } from './faults/nestjs.ts';
import { POSTGRES_FAULTS } from './faults/postgres.ts';
import { PRIMITIVE_FAULTS } from './faults/primitives.ts';
import { QUORUM_FAULTS } from './faults/quorum.ts';
import { REDIS_FAULTS } from './faults/redis.ts';
import { REDIS_LOSS_FAULTS } from './faults/redis-loss.ts';
import { REDISSON_FAULTS } from './faults/redisson.ts';
import { SERVICE_FAULTS } from './faults/services.ts';
import { SQL_FAULTS } from './faults/sql.ts';
import { SQL_LOSS_FAULTS } from './faults/sql-loss.ts';
import { SQLITE_FAULTS } from './faults/sqlite.ts';
import { STEP_FAULTS } from './faults/steps.ts';
import { TELEMETRY_FAULTS } from './faults/telemetry.ts';
import { ZOOKEEPER_FAULTS } from './faults/zookeeper.ts';

/** Every fault that the tests have to notice. */
export const FAULTS: readonly Fault[] = [
  ...[...DEADLINE_FAULTS, ...CLAIM_FAULTS, ...HAND_OFF_FAULTS, ...PRIMITIVE_FAULTS],
  ...[...MACHINE_FAULTS, ...MEMORY_FAULTS, ...SQLITE_FAULTS, ...REDIS_FAULTS, ...FENCE_FAULTS],
  ...DEADLOCK_FAULTS,
  ...REDISSON_FAULTS,
  ...REDIS_LOSS_FAULTS,
  ...[...DOCUMENT_FAULTS, ...SERVICE_FAULTS, ...HAZELCAST_FAULTS, ...DIALECT_FAULTS],
  ...KUBERNETES_FAULTS,
  ...[...QUORUM_FAULTS, ...POSTGRES_FAULTS, ...MYSQL_FAULTS, ...MYSQL_DATABASE_FAULTS],
  ...[...SQL_LOSS_FAULTS, ...SQL_FAULTS],
  ...[...JOB_FAULTS, ...ETCD_FAULTS, ...ZOOKEEPER_FAULTS],
  ...[...NESTJS_FAULTS, ...TELEMETRY_FAULTS, ...STEP_FAULTS, ...DASHBOARD_FAULTS],
  ...COMMAND_LINE_FAULTS,
];
