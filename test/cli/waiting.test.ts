/** What a wait says, and to whom. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { Place, type Program } from './program.ts';

const CTRL_C = '\u0003';

async function hold(place: Place): Promise<Program> {
  const holder = place.start(['run', 'invoice:7', '--label', 'api-3', '--', 'cat']);
  await place.holding(1, 0);
  return holder;
}

async function letGo(program: Program): Promise<void> {
  program.process.stdin?.end();
  expect((await program.fate).status).toBe(0);
}

const WAITING =
  'for invoice:7, held by \\S+ pid PID \\(api-3\\) for [\\d.]+ s, last heartbeat [\\d.]+ s ago';

function waiting(holder: Program): string {
  return WAITING.replace('PID', String(holder.pid));
}

describe('a wait', () => {
  it('says with -v for whom it waits, once, and else nothing', async () => {
    const place = new Place();
    const holder = await hold(place);
    const quiet = place.start(['run', 'invoice:7', '--', 'true']);
    await place.holding(1, 1);
    const told = place.start(['run', 'invoice:7', '-v', '--', 'true']);
    await place.holding(1, 2);
    await told.saysOnError('before you');
    await letGo(holder);
    const line = new RegExp(`^holdfast: waiting [\\d.]+ s ${waiting(holder)}; 1 before you\n$`);
    expect((await told.fate).err).toMatch(line);
    expect(await quiet.fate).toMatchObject({ status: 0, err: '' });
  });

  const script = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '';

  it('says so on a terminal each second, in one line that is gone at the end', async ({ skip }) => {
    skip(!script.includes('util-linux'), 'needs the program `script` of util-linux');
    const place = new Place();
    const holder = await hold(place);
    const terminal = place.terminal('stty cols 200; $holdfast run invoice:7 -- echo done');
    await until(() => /waiting ([2-9]|\d\d+)\b/.test(terminal.out));
    await letGo(holder);
    const { status, out } = await terminal.fate;
    expect(status).toBe(0);
    const lines = out.split('\r\u001b[K');
    for (const line of lines.slice(1, -1)) {
      expect(line).toMatch(new RegExp(`^waiting [\\d.]+ s ${waiting(holder)}$`));
    }
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.at(-1)).toBe('done\r\n');
  });

  it('keeps its line within the width, and ends it at ^C', async ({ skip }) => {
    skip(!script.includes('util-linux'), 'needs the program `script` of util-linux');
    const place = new Place();
    const holder = await hold(place);
    const terminal = place.terminal('stty cols 30; exec $holdfast run invoice:7 -- true');
    await terminal.says('waiting');
    terminal.type(CTRL_C);
    const { out } = await terminal.fate;
    const lines = out.split('\r\u001b[K');
    // The terminal shows what was typed.
    expect(lines[1]?.replace('^C', '')).toHaveLength(29);
    expect(lines.at(-1)).not.toContain('waiting');
    await letGo(holder);
  });
});

describe('a command that asks for the lock under which it runs', () => {
  const nested = (flags: string): string[] => {
    const inner = `$holdfast run a ${flags} -- true; echo status-$?`;
    return ['run', 'a', ...flags.split(' ').filter(Boolean), '--', 'sh', '-c', inner];
  };

  it.each(['', '--write', '--limit 1'])('is refused: %s', async (flags) => {
    const { status, out, err } = await new Place().fate(...nested(flags));
    expect([status, out]).toEqual([0, 'status-77\n']);
    expect(err).toMatch(/^holdfast: Waiting for "a" would never end: .+ runs under it.*\n$/);
  });

  it.each(['--read', '--limit 2'])('gets in where there is room: %s', async (flags) => {
    const fate = await new Place().fate(...nested(flags));
    expect(fate).toMatchObject({ status: 0, out: 'status-0\n', err: '' });
  });

  it('waits if the lock of this name is another one', async () => {
    const place = new Place();
    const file = `--store ${place.path('other.db')}`;
    const script = 'echo in > held; exec cat';
    const holder = place.start(['run', 'a', ...file.split(' '), '--', 'sh', '-c', script]);
    await until(() => place.read('held') === 'in\n');
    const inner = `$holdfast run a ${file} --wait 1500ms -- true; echo status-$?`;
    const { out } = await place.fate('run', 'a', '--', 'sh', '-c', inner);
    expect(out).toBe('status-75\n');
    await letGo(holder);
  });
});

describe('a try', () => {
  it('with -E 0 does not mention another holder, unless with -v', async () => {
    const place = new Place();
    const holder = await hold(place);
    const tries = ['run', 'invoice:7', '--try', '-E', '0'];
    expect(await place.fate(...tries, '--', 'true')).toMatchObject({ status: 0, out: '', err: '' });
    const { status, err } = await place.fate(...tries, '-v', '--', 'true');
    expect([status, err]).toEqual([
      0,
      expect.stringMatching(/^holdfast: .*held by api-3 on .*\n$/),
    ]);
    await letGo(holder);
  });
});
