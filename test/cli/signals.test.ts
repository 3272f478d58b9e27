import { constants } from 'node:os';
import { expect } from 'vitest';
import { alive, stateOf } from '../servers/process-table.ts';
import { until } from '../support/until.ts';
import { it, letGo, type Place, type Program, pause } from './program.ts';

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** A command and its child note in files what they are sent, and stay until the test says so. */
const NOTING = `
  const { spawn } = require('node:child_process');
  const { appendFileSync, existsSync } = require('node:fs');
  const [me] = process.argv.slice(2);
  for (const name of ['INT', 'TERM', 'HUP', 'QUIT', 'USR1', 'USR2', 'WINCH']) {
    process.on('SIG' + name, () => appendFileSync(me, name + '\\n'));
  }
  if (me === 'grandchild') console.log('up');
  else spawn(process.execPath, [__filename, 'grandchild'], { stdio: 'inherit' });
  setInterval(() => existsSync('go') && process.exit(5), 20);
`;

async function noting(place: Place): Promise<Program> {
  place.write('noting.cjs', NOTING);
  const program = place.start(['run', 'a', '--', process.execPath, 'noting.cjs', 'child']);
  await program.says('up\n');
  return program;
}

it.for(ENDING)('%s ends the wait, and leaves the queue', async (signal, { place }) => {
  const holder = await place.hold('a');
  const waiter = await place.wait('run', 'a', '--', 'touch', 'ran');
  waiter.kill(signal);
  const status = 128 + constants.signals[signal];
  expect(await waiter.fate).toEqual({ status, signal: null, out: '', err: '' });
  expect(await place.counts()).toEqual({ holders: 1, waiters: 0 });
  await letGo(holder);
});

it.for(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
  '%s goes to all of the command, whose end it waits for',
  async (signal, { place }) => {
    const program = await noting(place);
    program.kill(signal);
    const name = `${signal.slice(3)}\n`;
    await until(() => place.read('child') === name && place.read('grandchild') === name);
    expect(await place.counts()).toEqual({ holders: 1, waiters: 0 });
    place.write('go');
    expect(await program.fate).toMatchObject({ status: 5, err: '' });
    expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
  },
);

it.for(['SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const)(
  '%s goes to the command alone',
  async (signal, { place }) => {
    const program = await noting(place);
    program.kill(signal);
    await until(() => place.read('child') === `${signal.slice(3)}\n`);
    place.write('go');
    expect(await program.fate).toMatchObject({ status: 5, err: '' });
    expect(place.read('grandchild')).toBe('');
  },
);

it('stops and goes on with its command', async ({ place }) => {
  const program = place.start(['run', 'a', '--', 'sh', '-c', 'echo $$; read line; exit 5']);
  await until(() => /\d\n/.test(program.out));
  const pid = Number(program.out);
  program.kill('SIGTSTP');
  await until(() => stateOf(program.pid) === 'T' && stateOf(pid) === 'T');
  program.kill('SIGCONT');
  await until(() => stateOf(program.pid) !== 'T' && stateOf(pid) !== 'T');
  program.type('\n');
  expect(await program.fate).toMatchObject({ status: 5, err: '' });
});

it('killed with SIGKILL, it leaves its command running without a lock', async ({ place }) => {
  const script = 'echo $$; until [ -e go ] || [ ! -e "$PWD" ]; do sleep 0.02; done';
  const program = place.start(['run', 'a', '--ttl', '500ms', '--', 'sh', '-c', script]);
  await until(() => /\d\n/.test(program.out));
  program.kill('SIGKILL');
  // The next one gets in when the TTL has run out.
  expect((await place.fate('run', 'a', '--', 'true')).status).toBe(0);
  expect(alive(Number(program.out))).toBe(true);
  place.write('go');
  await until(() => !alive(Number(program.out)));
});

it('a signal while it opens the store leaves nothing behind', async ({ place }) => {
  const programs = Array.from({ length: 12 }, () => place.start(['run', 'a', '--', 'sleep', '30']));
  // Anywhere from before its first line to after its grant.
  for (const program of programs) {
    await pause(20);
    program.kill('SIGTERM');
  }
  for (const program of programs) {
    const { status, signal } = await program.fate;
    expect(signal === 'SIGTERM' ? 143 : status).toBe(143);
  }
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
});
