import type { ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = {
  // The `paths` of tsconfig.json: tests import the package by its public names.
  resolve: { tsconfigPaths: true },
  test: {
    include: ['test/**/*.test.ts'],
    // Real processes on a busy machine: a time-out must mean a hang, never a slow start.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
};

export default config;
