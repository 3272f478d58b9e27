/** The stores that share their locks with other libraries, by name. */
import type { Store } from 'holdfast';
import { leaseLockStore } from 'holdfast/kubernetes';
import { plainRedisStore } from 'holdfast/redis';
import { shedlockJdbcStore, shedlockRedisStore } from 'holdfast/shedlock';
import { springJdbcStore, springRedisStore } from 'holdfast/spring';
import type { SqlDatabase } from 'holdfast/sql';
import { zookeeperStore } from 'holdfast/zookeeper';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';

export function open(dialect: string, url: string, given: string): Store {
  const options: object = JSON.parse(given);
  switch (dialect) {
    case 'shedlock-jdbc':
      return shedlockJdbcStore(pool(url), options);
    case 'spring-jdbc':
      return springJdbcStore(pool(url), options as { version: 6 | 7 });
    case 'shedlock-redis':
      return shedlockRedisStore(new Redis(url), options);
    case 'plain-redis':
      return plainRedisStore(new Redis(url), options);
    case 'spring-redis':
      return springRedisStore(new Redis(url), options as { registryKey: string });
    case 'kubernetes':
      return leaseLockStore({ url, ...options });
    case 'zookeeper':
      return zookeeperStore(url, options);
    default:
      throw new Error(`no dialect: ${dialect}`);
  }
}

function pool(url: string): SqlDatabase {
  if (url.startsWith('postgres')) return new pg.Pool({ connectionString: url });
  return createPool({ uri: url.replace('mariadb:', 'mysql:') });
}
