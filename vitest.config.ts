import type { ViteUserConfig } from 'vitest/config';

type Project = NonNullable<NonNullable<ViteUserConfig['test']>['projects']>[number];

const CONFORMANCE = 'test/conformance/**/*.test.ts';
const PROCESSES = 'test/processes/**/*.test.ts';

const config: ViteUserConfig = {
  // The `paths` of tsconfig.json: tests import the package by its public names.
  resolve: { tsconfigPaths: true },
  test: {
    // A time-out must mean a hang, never a slow start on a busy machine.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      project('units', ['test/**/*.test.ts'], [CONFORMANCE, PROCESSES]),
      project('conformance', [CONFORMANCE]),
      project('processes', [PROCESSES]),
    ],
  },
};

function project(name: string, include: string[], exclude: string[] = []): Project {
  return { extends: true, test: { name, include, exclude } };
}

export default config;
