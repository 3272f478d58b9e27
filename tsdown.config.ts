import type { UserConfig } from 'tsdown';

const entry = {
  index: 'src/index.ts',
  election: 'src/jobs/election/index.ts',
  once: 'src/jobs/once/index.ts',
  refresh: 'src/jobs/refresh/index.ts',
  store: 'src/contract/index.ts',
  memory: 'src/stores/memory/index.ts',
  sqlite: 'src/stores/sqlite/index.ts',
  redis: 'src/stores/redis/index.ts',
  postgres: 'src/stores/postgres/index.ts',
  etcd: 'src/stores/etcd/index.ts',
  zookeeper: 'src/stores/zookeeper/index.ts',
  mysql: 'src/stores/mysql/index.ts',
  quorum: 'src/layers/quorum/index.ts',
  sql: 'src/database-locks/index.ts',
  fence: 'src/fences/index.ts',
  opentelemetry: 'src/integrations/opentelemetry/index.ts',
  connect: 'src/connect.ts',
  nestjs: 'src/integrations/nestjs/index.ts',
  testkit: 'src/testkit/index.ts',
};

const config: UserConfig = {
  // One build of all entries, so that what they share (the error classes) is in shared chunks.
  entry,
  // Programs are no exports, and run as ESM only.
  format: { esm: { entry: { ...entry, cli: 'src/cli/main.ts' } }, cjs: {} },
  dts: true,
  platform: 'node',
  target: 'node20.19',
  loader: { '.sql': 'text', '.lua': 'text' },
  // Jest cannot import from CommonJS; clients are required there.
  outputOptions: { dynamicImportInCjs: false },
  checks: { legacyCjs: false },
};

export default config;
