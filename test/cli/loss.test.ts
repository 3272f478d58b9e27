import { expect } from 'vitest';
import { alive } from '../servers/process-table.ts';
import { paced } from '../support/this-run.ts';
import { until } from '../support/until.ts';
import { it, Place, type Program, pause } from './program.ts';

/** Long enough for heartbeats to get through on a busy machine. */
const TTL_MS = paced(2_000);

/** It stands still for longer than that: the store has given the lock away. */
const STILL_MS = TTL_MS + 500;

/**
 * A command with children of all kinds: with a living parent, with none any more, and, thanks to
 * `timeout`, in a process group of its own. Each notes its pid, and unless `deaf` that it was asked
 * to end; the last of them perhaps twice, for `timeout` passes on what it was sent itself.
 */
const FAMILY = `
  exec 2> /dev/null
  each() {
    if [ $deaf = 1 ]; then trap '' TERM; else trap "echo $1 >> log; exit" TERM; fi
    sh -c 'echo $PPID' >> pids
    while [ -e "$PWD" ]; do sleep 0.02; done
  }
  each child &
  (each orphan &)
  timeout 60 sh -c 'echo $$ >> pids; trap "echo group >> log; exit" TERM
    [ $deaf = 0 ] || trap "" TERM
    while [ -e "$PWD" ]; do sleep 0.02; done' &
  each parent
`;

function run(place: Place, script: string, grace = '5s', env: NodeJS.ProcessEnv = {}): Program {
  const flags = ['--ttl', `${TTL_MS}ms`, '--grace', grace];
  return place.start(['run', 'a', ...flags, '--', 'sh', '-c', script], { env });
}

async function pidsOf(place: Place): Promise<number[]> {
  const pids = (): number[] => (place.read('pids').match(/\d+/g) ?? []).map(Number);
  await until(() => pids().length === 4);
  return pids();
}

async function standStill(program: Program): Promise<void> {
  program.kill('SIGSTOP');
  await pause(STILL_MS);
  program.kill('SIGCONT');
}

it.each([
  ['by standing still', standStill, /: this process or machine stood still/],
  ['by force, at once', (_: Program, place: Place) => place.evict('a', '--now'), /by force/],
  ['by force, in time', (_: Program, place: Place) => place.evict('a'), /by force/],
])('a lock that is lost %s ends all of the command', async (_, lose, message) => {
  const place = new Place();
  const program = run(place, FAMILY, '1d', { deaf: '0' });
  const pids = await pidsOf(place);
  await lose(program, place);
  const fate = await program.fate;
  expect(fate).toMatchObject({ status: 79, signal: null, out: '' });
  expect(fate.err).toMatch(message);
  expect(fate.err).toMatch(/^holdfast: Lease lost on "a": .* Ending the command\.\n$/);
  expect(pids.filter(alive)).toEqual([]);
  // Each was asked; none had to be killed, for the grace is a day.
  const asked = new Set(place.read('log').trim().split('\n'));
  expect(asked).toEqual(new Set(['parent', 'child', 'orphan', 'group']));
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
});

it('kills what does not end within the grace', async ({ place }) => {
  const program = run(place, FAMILY, '200ms', { deaf: '1' });
  const pids = await pidsOf(place);
  await standStill(program);
  expect(await program.fate).toMatchObject({ status: 79, signal: null });
  expect(pids.filter(alive)).toEqual([]);
  expect(place.read('log')).toBe('');
});

it('says that the lock was lost even if the command has ended by then', async ({ place }) => {
  const script = 'echo up; until [ -e go ] || [ ! -e "$PWD" ]; do sleep 0.02; done; echo done';
  const program = run(place, script);
  await program.says('up');
  program.kill('SIGSTOP');
  place.write('go');
  await program.says('done');
  await pause(STILL_MS);
  program.kill('SIGCONT');
  expect(await program.fate).toMatchObject({ status: 79, signal: null });
});

it('ends what was stopped together with it before it goes on', async ({ place }) => {
  const script = 'echo $$; while [ -e "$PWD" ]; do echo at work >> work; sleep 0.02; done';
  const program = run(place, script);
  await until(() => place.read('work') !== '');
  program.kill('SIGTSTP');
  await pause(STILL_MS);
  const before = place.read('work');
  program.kill('SIGCONT');
  expect((await program.fate).status).toBe(79);
  expect(place.read('work')).toBe(before);
});

it('is not hurried by signals while it ends the command', async ({ place }) => {
  const script = `
    trap 'echo asked >> log' TERM
    echo up
    until [ -e go ] || [ ! -e "$PWD" ]; do sleep 0.02; done
    echo cleaned up >> log`;
  const program = run(place, script, '1d');
  await program.says('up');
  await standStill(program);
  await until(() => place.read('log') === 'asked\n');
  program.kill('SIGTERM');
  await until(() => place.read('log') === 'asked\nasked\n');
  place.write('go');
  expect((await program.fate).status).toBe(79);
  expect(place.read('log')).toBe('asked\nasked\ncleaned up\n');
});

it('ends the command although nobody reads what it complains of', async ({ place }) => {
  // It fills the standard error, and does not end when it is asked to.
  const script = `
    trap '' TERM
    yes >&2 &
    exec 2> /dev/null
    sleep 0.5
    echo $$ > pid
    while :; do sleep 0.02; done`;
  place.write('fill.sh', script);
  const run = '$holdfast run a --grace 100ms -- sh fill.sh 2>&1; echo status-$? > status';
  const program = place.shell(`{ ${run}; } | { until [ -e go ]; do sleep 0.02; done; cat; }`);
  await until(() => place.read('pid').endsWith('\n'));
  await place.evict('a', '--now');
  await until(() => !alive(Number(place.read('pid'))));
  place.write('go');
  expect((await program.fate).out).toMatch(/holdfast: Lease lost on "a": .*\n$/);
  expect(place.read('status')).toBe('status-79\n');
});
