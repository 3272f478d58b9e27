import type { Fault } from '../fault.ts';

const vitestStep = { file: 'scripts/vitest-step.ts' };

/** What `npm test` makes of the tests. */
export const STEP_FAULTS: readonly Fault[] = [
  {
    ...vitestStep,
    name: 'steps: what is thrown in no test is forgiven',
    find: '...stray.map((each)',
    replace: '...stray.slice(stray.length).map((each)',
    why: 'a promise that nobody looks after fails in programs, and in no run',
  },
  {
    ...vitestStep,
    name: 'steps: what is thrown when a void test runs again is forgiven',
    find: 'stray.push(...again.stray);',
    replace: '',
    why: 'a promise that nobody looks after fails in programs, and in no run',
  },
  {
    ...vitestStep,
    name: 'steps: a void test is forgiven what it fails by when it runs again',
    find: 'failed = [...failed, ...again.failed];',
    replace: '',
    why: 'on a busy machine two holders at once pass for a late one',
  },
  {
    ...vitestStep,
    name: 'steps: what is void each time is forgiven',
    find: '{ ms }] of stoodStill)',
    replace: '{ ms }] of [...stoodStill].slice(stoodStill.size))',
    why: 'what a machine has never been able to tell passes for proved',
  },
  {
    file: 'test/servers/programs.ts',
    name: 'steps: any program of the right name is taken for the server',
    find: "folder !== '' && (await isWanted(source, file))",
    replace: "folder !== ''",
    why: 'what is said of MySQL was tried on MariaDB, or on a version that is not supported',
  },
];
