/** The pages and blocks that test/guide/pages.test.ts does not run, and why. */

/** What runs the pages whose code is in files of their own. */
export const RUN_BY: Readonly<Record<string, string>> = {
  'docs/guide/express-and-fastify.md': 'test/guide/express-and-fastify.test.ts',
  'docs/guide/nestjs.md': 'test/guide/nestjs.test.ts',
  'docs/guide/next-and-serverless.md': 'test/guide/next-and-serverless.test.ts',
  'docs/guide/scheduled-jobs.md': 'test/guide/scheduled-jobs.test.ts',
  'docs/guide/testing-your-app.md': 'test/guide/testing-your-app.test.ts',
};

/** Names that mean a server, given or imported, and the server. */
export const SERVERS: Readonly<Record<string, string>> = {
  pool: 'PostgreSQL',
  kysely: 'PostgreSQL',
  sql: 'PostgreSQL',
  prisma: 'PostgreSQL',
  drizzle: 'PostgreSQL',
  mysql: 'MySQL',
  Redis: 'Redis',
  createClient: 'Redis',
  etcdClient: 'etcd',
  etcdStore: 'etcd',
  zookeeperClient: 'ZooKeeper',
  zookeeperStore: 'ZooKeeper',
};

interface Listed {
  readonly page: string;
  /** Words of this block, and of no other of the page. */
  readonly has: string;
  /** Of `SERVERS`: why it is not run. */
  readonly uses: string;
}

const at =
  (page: string) =>
  (has: string, uses: string): Listed => ({ page: `docs/guide/${page}`, has, uses });

const databases = at('database-locks.md');
const fences = at('fences.md');
const moving = at('moving-from-other-libraries.md');
const sharing = at('sharing-locks.md');
const which = at('which-lock.md');

/** Blocks that need a server; their functions are tested on real ones. */
export const ON_SERVERS: readonly Listed[] = [
  databases('changeState(', 'pool'),
  databases('kysely.transaction()', 'kysely'),
  databases('transactionLock(', 'sql'),
  databases('optimistic<', 'mysql'),
  databases('prisma.$transaction', 'prisma'),
  databases('drizzle.transaction', 'drizzle'),
  fences("dialect: 'postgres'", 'kysely'),
  fences('etcdFence()', 'etcdClient'),
  fences('zookeeperFence()', 'zookeeperClient'),
  fences('redisFence(redis)', 'Redis'),
  fences('entry.eval(', 'createClient'),
  moving('assertHeld()', 'Redis'),
  moving("run({ wait: '5s' }, async ({ signal }) =>", 'Redis'),
  moving('tryRun(', 'Redis'),
  moving('plainRedisStore(', 'Redis'),
  sharing('etcdStore(', 'etcdStore'),
  sharing('zookeeperStore(', 'zookeeperStore'),
  which("dialect: 'postgres'", 'kysely'),
];
