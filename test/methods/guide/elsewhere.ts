/** The pages and blocks that test/methods/guide/pages.test.ts does not run, and what does. */
import type { Snippet } from '../tidy/snippets.ts';
import { namesIn, type Place } from './blocks.ts';

/** What runs the pages whose code is in files of their own. */
export const RUN_BY: Readonly<Record<string, string>> = {
  'docs/guide/dashboard.md': 'test/dashboard/frameworks.test.ts',
  'docs/guide/express-and-fastify.md': 'test/methods/guide/express-and-fastify.test.ts',
  'docs/guide/kubernetes-deployments.md': 'test/methods/guide/kubernetes-deployments.test.ts',
  'docs/guide/nestjs.md': 'test/methods/guide/nestjs.test.ts',
  'docs/guide/next-and-serverless.md': 'test/methods/guide/next-and-serverless.test.ts',
  'docs/guide/scheduled-jobs.md': 'test/methods/guide/scheduled-jobs.test.ts',
  'docs/guide/testing-your-app.md': 'test/methods/guide/testing-your-app.test.ts',
  'docs/guide/workers.md': 'scripts/package/workers.ts',
};

/** Names that mean a server, given or imported. */
const SERVERS = new Set([
  ...['pool', 'Pool', 'postgres', 'kysely', 'prisma', 'drizzle', 'mysql', 'createPool'],
  ...['redis', 'Redis', 'createClient', 'etcd', 'etcdClient', 'etcdStore', 'session'],
  ...['zookeeperClient', 'zookeeperStore', 'hazelcast', 'Client'],
]);
/** These names mean other things, too. */
const ON_SERVER = /\bsql\.begin\(|\bconnect\('redis:/;

/** What test/servers/pages.test.ts runs. */
export function needsServer(block: Snippet): boolean {
  if (block.page in RUN_BY) return false;
  return ON_SERVER.test(block.code) || [...namesIn(block)].some((name) => SERVERS.has(name));
}

/** Of those, the ones after which something of the reader's is another one: words of each. */
export const WRITING: readonly Place[] = Object.entries({
  'docs/guide/database-locks.md': ['changeState(', 'kysely.transaction()', 'optimistic<'],
  'docs/guide/fences-sql.md': ["dialect: 'postgres'"],
  'docs/guide/fences-etcd.md': ['etcdFence()'],
  'docs/guide/fences-zookeeper.md': ['zookeeperFence()'],
  'docs/guide/fences-redis.md': ["'SET'", 'entry.eval('],
  'docs/guide/which-lock.md': ["dialect: 'postgres'"],
  'src/fences/etcd.ts': ['etcdFence()'],
  'src/fences/redis/fence.ts': ['redisFence()'],
  'src/fences/sql/fence.ts': ["dialect: 'postgres'"],
  'src/fences/zookeeper.ts': ['zookeeperFence()'],
  'src/database-locks/change-state.ts': ['changeState('],
  'src/clients/sql/errors.ts': ['isRetryable('],
  'src/database-locks/optimistic.ts': ['optimistic<'],
  'src/database-locks/row-lock.ts': ['rowLock<'],
  'src/clients/etcd/etcd-client.ts': ['etcdClient('],
}).flatMap(([page, blocks]) => blocks.map((has) => ({ page, has })));
