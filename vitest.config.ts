import type { ViteUserConfig } from 'vitest/config';

type Project = NonNullable<NonNullable<ViteUserConfig['test']>['projects']>[number];

const CONFORMANCE = 'test/conformance/**/*.test.ts';
const PROCESSES = 'test/{processes,cli}/**/*.test.ts';

const config: ViteUserConfig = {
  // The `paths` of tsconfig.json: tests import the package by its public names.
  resolve: { tsconfigPaths: true },
  test: {
    // A time-out must mean a hang, never a slow start on a busy machine.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Most of the time is spent waiting: for TTLs, and for processes that stand still.
    maxWorkers: 2,
    projects: [
      project('units', { include: ['test/**/*.test.ts'], exclude: [CONFORMANCE, PROCESSES] }),
      project('conformance', { include: [CONFORMANCE] }),
      project('processes', { include: [PROCESSES], globalSetup: ['test/cli/build.ts'] }),
    ],
  },
};

function project(name: string, test: NonNullable<ViteUserConfig['test']>): Project {
  return { extends: true, test: { name, ...test } };
}

export default config;
