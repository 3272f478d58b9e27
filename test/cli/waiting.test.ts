/** What a wait says, and to whom. */
import { describe, expect } from 'vitest';
import { until } from '../support/until.ts';
import { it, letGo, needsTerminals, Place, type Program } from './program.ts';

const CTRL_C = '\u0003';

const HOLD = ['invoice:7', '--label', 'api-3'] as const;

function waiting({ pid }: Program): string {
  const since = 'for [\\d.]+ s, last heartbeat [\\d.]+ s ago';
  return `for invoice:7, held by \\S+ pid ${pid} \\(api-3\\) ${since}`;
}

describe('a wait', () => {
  it('says with -v that its place in the queue was lost', async ({ place }) => {
    await place.hold(...HOLD);
    const waiter = place.start(['run', 'invoice:7', '-v', '--ttl', '500ms', '--', 'touch', 'ran']);
    await waiter.saysOnError(' for invoice:7, held by ');
    await place.holding(1, 1);
    waiter.kill('SIGSTOP');
    await place.holding(1, 0);
    waiter.kill('SIGCONT');
    await waiter.saysOnError(' for invoice:7, in line again after its place was lost, held by ');
    waiter.kill('SIGTERM');
    expect((await waiter.fate).status).toBe(143);
  });

  it('says with -v for whom it waits, once, and else nothing', async ({ place }) => {
    const holder = await place.hold(...HOLD);
    const quiet = await place.wait('run', 'invoice:7', '--', 'true');
    const told = await place.wait('run', 'invoice:7', '-v', '--', 'true');
    await told.saysOnError('before you');
    await letGo(holder);
    const line = new RegExp(`^holdfast: waiting [\\d.]+ s ${waiting(holder)}; 1 before you\n$`);
    expect((await told.fate).err).toMatch(line);
    expect(await quiet.fate).toMatchObject({ status: 0, err: '' });
  });

  it('says so on a terminal each second, in one line that is gone at the end', async ({ skip }) => {
    needsTerminals({ skip });
    const place = new Place();
    const holder = await place.hold(...HOLD);
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

  it('keeps its line within the width, and ends it at ^C', async ({ skip, place }) => {
    needsTerminals({ skip });
    const holder = await place.hold(...HOLD);
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

  it('waits if the lock of this name is another one', async ({ place }) => {
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
