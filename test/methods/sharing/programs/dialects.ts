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

const DIALECTS: Readonly<Record<string, (url: string, options: object) => Store>> = {
  'shedlock-jdbc': (url, options) => shedlockJdbcStore(pool(url), options),
  'spring-jdbc': (url, options) => springJdbcStore(pool(url), options as { version: 6 | 7 }),
  'shedlock-redis': (url, options) => shedlockRedisStore(new Redis(url), options),
  'plain-redis': (url, options) => plainRedisStore(new Redis(url), options),
  'spring-redis': (url, options) =>
    springRedisStore(new Redis(url), options as { registryKey: string }),
  kubernetes: (url, options) => leaseLockStore({ url, ...options }),
  zookeeper: zookeeperStore,
};

export function open(dialect: string, url: string, given: string): Store {
  const store = DIALECTS[dialect]?.(url, JSON.parse(given));
  if (!store) throw new Error(`no dialect: ${dialect}`);
  return store;
}

function pool(url: string): SqlDatabase {
  if (url.startsWith('postgres')) return new pg.Pool({ connectionString: url });
  return createPool({ uri: url.replace('mariadb:', 'mysql:') });
}
