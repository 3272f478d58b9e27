import type { Fault } from '../fault.ts';

const vitestStep = { file: 'scripts/vitest-step.ts' };
const askedAgain = { file: 'scripts/asked-again.ts' };

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
    name: 'steps: what is thrown when a test is asked again is forgiven',
    find: 'failed: [...failed, ...strays]',
    replace: 'failed: [...failed, ...strays.slice(strays.length)]',
    why: 'a promise that nobody looks after fails in programs, and in no run',
  },
  {
    ...askedAgain,
    name: 'steps: nobody remembers what was asked again',
    find: '...(before[step] ?? [])',
    replace: '...(before[step] ?? []).slice(RUNS)',
    why: 'what goes wrong now and then is never looked into',
  },
  {
    file: 'test/servers/programs.ts',
    name: 'steps: any program of the right name is taken for the server',
    find: "folder !== '' && (await isWanted(source, file))",
    replace: "folder !== ''",
    why: 'what is said of MySQL was tried on MariaDB, or on a version that is not supported',
  },
];
