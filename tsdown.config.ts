import type { UserConfig } from 'tsdown';

const config: UserConfig = {
  // One build of all entries, so that what they share (the error classes) is in shared chunks.
  entry: {
    index: 'src/index.ts',
    memory: 'src/stores/memory/index.ts',
    sqlite: 'src/stores/sqlite/index.ts',
    fence: 'src/fence/index.ts',
    connect: 'src/connect.ts',
    testkit: 'src/testkit/index.ts',
  },
  format: ['esm', 'cjs'],
  dts: true,
  platform: 'node',
  target: 'node20.19',
  loader: { '.sql': 'text', '.lua': 'text' },
  checks: { legacyCjs: false },
};

export default config;
