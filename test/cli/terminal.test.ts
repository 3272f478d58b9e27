import { beforeEach, describe, expect } from 'vitest';
import { alive } from '../servers/process-table.ts';
import { programOf } from '../support/program-of.ts';
import { until } from '../support/until.ts';
import { it, letGo, needsTerminals, Place, type Program, pause } from './program.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_Z = '\u001a';

beforeEach(needsTerminals);

describe('on a terminal', () => {
  it('the command reads and writes there', async ({ place }) => {
    const terminal = place.terminal('$holdfast run a -- sh -c "echo up; cat; echo end"');
    await terminal.says('up');
    terminal.type('hello\n');
    // What is typed is shown as it is typed, and then again by the command.
    await until(() => terminal.out.split('hello').length === 3);
    terminal.type(CTRL_D);
    expect(await terminal.fate).toMatchObject({ status: 0, out: expect.stringContaining('end') });
  });

  it('the command can open it by its name', async () => {
    const terminal = new Place().terminal(
      '$holdfast run a -- sh -c "echo up; read line < /dev/tty; echo got $line" < /dev/null',
    );
    await terminal.says('up');
    terminal.type('it\n');
    expect(await terminal.fate).toMatchObject({ status: 0, out: expect.stringContaining('got') });
  });

  it('^C reaches the command once, and its end is that of the command', async ({ place }) => {
    const stay = 'echo up; until [ -e go ] || [ ! -e "$PWD" ]; do sleep 0.02; done; exit 5';
    const command = `trap 'echo INT >> log' INT; ${stay}`;
    const terminal = place.terminal(`exec $holdfast run a -- sh -c "${command}"`);
    await terminal.says('up');
    // Until its next turn, Holdfast passes ^C on, for the command may not have existed yet.
    await pause(300);
    terminal.type(CTRL_C);
    await until(() => place.read('log') !== '');
    // A second one would come within this time.
    await pause(300);
    place.write('go');
    expect((await terminal.fate).status).toBe(5);
    expect(place.read('log')).toBe('INT\n');
  });

  it.for([
    ['holding', false],
    ['waiting', true],
  ] as const)('^C ends the loop of a shell: %s', async ([, waits], { place }) => {
    const holders = waits ? [await place.hold('a')] : [];
    const loop = 'for n in 1 2; do echo turn $n; $holdfast run a -- sleep 30; done';
    const terminal = place.terminal(loop);
    await place.holding(1, waits ? 1 : 0);
    terminal.type(CTRL_C);
    const { out } = await terminal.fate;
    expect(out).not.toContain('turn 2');
    expect(await place.counts()).toEqual({ holders: holders.length, waiters: 0 });
    await letGo(...holders);
  });

  it('^C between the lock and the command reaches the command', async () => {
    const { file, execArgv } = programOf('test/cli/children/early-signal.ts');
    const terminal = new Place().terminal([process.execPath, ...execArgv, file].join(' '));
    expect((await terminal.fate).out).toContain('ended by SIGINT');
  });

  it('ends by SIGHUP when the terminal is gone', async ({ place }) => {
    const run = '$holdfast run a -- sh -c "echo up; sleep 30"';
    place.write('note.sh', `trap : HUP; ${run}; echo $? > status`);
    // The terminal tells the first shell, and by its end all the others.
    const terminal = place.terminal('sh note.sh; true');
    await terminal.says('up');
    terminal.kill('SIGKILL');
    await until(() => place.read('status') !== '');
    expect(place.read('status')).toBe('129\n');
    expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
  });

  it('^Z stops it and the command, and fg resumes them', async ({ place }) => {
    const terminal = place.terminal('bash --norc -i');
    terminal.type('$holdfast run a -- sh -c "echo begins-\\$((1 + 1)); cat"\n');
    await terminal.says('begins-2');
    terminal.type(CTRL_Z);
    await terminal.says('Stopped');
    terminal.type('fg\n');
    // The shell tells what it resumes.
    await until(() => /\bfg\b.* run a [^\n]*\n/s.test(terminal.out));
    terminal.type('hello\n');
    await until(() => terminal.out.split('hello').length >= 3);
    terminal.type(`${CTRL_D}echo status-$?; exit\n`);
    expect((await terminal.fate).out).toContain('status-0');
  });

  it('a lost lock ends all of the command, and nothing else of its group', async ({ place }) => {
    const each = `sh -c 'echo $PPID' >> pids; while [ -e "$PWD" ]; do sleep 0.02; done`;
    place.write(
      'family.sh',
      `exec 2> /dev/null
       each() { trap '' TERM; ${each}; }
       each &
       (each &)
       trap 'echo TERM >> log' TERM
       ${each}`,
    );
    const run = '$holdfast run a --grace 200ms -- sh family.sh';
    const terminal = place.terminal(`sh -c '{ ${run}; echo status-$?; } | cat; echo and on'`);
    const pids = (): number[] => (place.read('pids').match(/\d+/g) ?? []).map(Number);
    await until(() => pids().length === 3);
    await place.evict('a', '--now');
    const fate = await terminal.fate;
    expect(fate.out).toContain('status-79');
    expect(fate.out).toContain('and on');
    expect(pids().filter(alive)).toEqual([]);
    expect(place.read('log')).toBe('TERM\n');
  });

  it('evict asks', async ({ place }) => {
    const holder = await place.hold('a');
    const token = await place.tokenOf('a');
    for (const [answer, status] of [
      ['n\n', 1],
      [CTRL_D, 1],
      ['y\n', 0],
    ] as const) {
      const terminal = place.terminal(`$holdfast evict a --token ${token} --reason test`);
      await terminal.says('[y/N]');
      expect(await place.counts()).toEqual({ holders: 1, waiters: 0 });
      terminal.type(answer);
      expect((await terminal.fate).status).toBe(status);
    }
    expect((await holder.fate).status).toBe(79);
  });

  it('top takes keys: it filters, shows one and evicts, and restores the terminal', async () => {
    const place = new Place();
    const one = await place.hold('job:1');
    const two = await place.hold('job:2', '--grace', '1s');
    const other = await place.hold('other');
    const script = 'stty cols 120; stty -g > before; $holdfast top; stty -g > after; echo ended';
    const terminal = place.terminal(script, { NO_COLOR: '1' });
    await terminal.says('3 in use, 0 waiting; longest wait first');
    terminal.type('/job:');
    await terminal.says('2 in use, 0 waiting, with "job:"');
    terminal.type('\rsss\u001b[B');
    await terminal.says('> job:2');
    terminal.type('\r');
    await terminal.says('job:2: 1 holding, 0 waiting');
    terminal.type('eit hangs\r');
    await terminal.says('Type job:2 to evict ');
    terminal.type('job:2\r');
    await terminal.says('Evicted: ');
    // A heartbeat tells it, or its TTL.
    expect((await two.fate).err).toMatch(/by force: it hangs/);
    terminal.type('q');
    expect(await terminal.fate).toMatchObject({ out: expect.stringMatching(/ended\r\n$/) });
    expect(place.read('after')).toBe(place.read('before'));
    await letGo(one, other);
  });

  it.for([
    ['^C', (terminal: Program) => terminal.type(CTRL_C)],
    ['a signal', (_: Program, place: Place) => process.kill(Number(place.read('pid')), 'SIGTERM')],
  ] as const)('top restores the terminal after %s', async ([, end], { used: place }) => {
    const top = 'sh -c "echo \\$\\$ > pid; exec $holdfast top"';
    const terminal = place.terminal(`stty -g > before; ${top}; stty -g > after`);
    await terminal.says('0 in use');
    end(terminal, place);
    await terminal.fate;
    expect(place.read('after')).toBe(place.read('before'));
  });

  it('top is stopped by ^Z, and takes keys again after fg', async ({ used: place }) => {
    const terminal = place.terminal('bash --norc -i', { PS1: 'ready> ' });
    const prompts = (): number => terminal.out.split('ready> ').length;
    // Not the process of the shell's job alone: npx is another one.
    terminal.type('sh -c "$holdfast top; exit \\$?"\n');
    await terminal.says('0 in use');
    terminal.type(CTRL_Z);
    await terminal.says('Stopped');
    const before = terminal.out.length;
    terminal.type('fg\n');
    await until(() => terminal.out.indexOf('0 in use', before) > 0);
    const seen = prompts();
    terminal.type('q');
    await until(() => prompts() > seen);
    terminal.type('echo status-$?; exit\n');
    await terminal.says('status-0');
    await terminal.fate;
  });

  it('top goes on after ^Z where no shell could resume it', async ({ used: place }) => {
    const terminal = place.terminal('$holdfast top; echo status-$?');
    await terminal.says('0 in use');
    terminal.type(`${CTRL_Z}q`);
    await terminal.says('status-0');
    await terminal.fate;
  });

  it('top takes no keys where its input is no terminal', async ({ used: place }) => {
    const terminal = place.terminal('exec $holdfast top < /dev/null');
    await until(() => terminal.out.split('0 in use, 0 waiting').length > 2);
    expect(terminal.out).not.toContain('q: quit');
    terminal.type(CTRL_C);
    expect((await terminal.fate).status).toBe(0);
  });

  it('watch draws anew, in colour unless it is not wanted', async ({ place }) => {
    const holder = await place.hold('a');
    for (const [env, coloured] of [
      [{}, true],
      [{ NO_COLOR: '1' }, false],
      [{ TERM: 'dumb' }, false],
    ] as const) {
      const terminal = place.terminal('exec $holdfast watch a', env);
      await until(() => terminal.out.split('1 holding, 0 waiting').length > 2);
      terminal.type(CTRL_C);
      const { status, out } = await terminal.fate;
      expect(status).toBe(0);
      expect(out.includes('\u001b[1m')).toBe(coloured);
    }
    await letGo(holder);
  });

  it('watch keeps every line within the width', async ({ used: place }) => {
    const terminal = place.terminal(`stty cols 40; NO_COLOR=1 $holdfast watch ${'x'.repeat(99)}`);
    await terminal.says('no holders');
    terminal.type(CTRL_C);
    const { out } = await terminal.fate;
    expect(out).toContain(`${'x'.repeat(16)}: no holders, no waiters\r\n`);
    expect(out).not.toContain('x'.repeat(17));
  });
});
