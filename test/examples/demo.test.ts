import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { alive } from '../servers/process-table.ts';
import { outputOf, start } from './run.ts';

describe('the demo', () => {
  it('shows what a mutex, a fence and an election do', async () => {
    const output = await outputOf('demo');
    expect(output).toMatch(/✓ \d+ of 200 sold: oversold by [1-9]\d*$/m);
    expect(output).toMatch(/with a mutex +✓ 200 of 200 sold: exact$/m);
    expect(output).toMatch(/with mutex and fence +✓ 200 of 200 sold: exact; .* was refused$/m);
    expect(output).toMatch(/^ +refused with StaleTokenError$/m);
    expect(output).toMatch(/election, 2 of 4 +✓ worker \d took over from worker \d, which was /m);
    const [, token, seen] = /its token +(\d+)\s+seen by the fence +(\d+)/.exec(output) ?? [];
    expect(BigInt(seen ?? 0)).toBeGreaterThan(BigInt(token ?? 0));
    expect(output).not.toContain('\u001b');
  });

  it('leaves nothing behind when it is interrupted', async () => {
    const { child, output, ended, leftBehind } = start('demo');
    // By then one seller is dead, another one stopped, and two are at work.
    while (!output().includes('SIGSTOP')) await once(child.stdout as NodeJS.EventEmitter, 'data');
    child.kill('SIGINT');
    const { code } = await ended;
    expect(code).toBe(130);
    expect(leftBehind()).toEqual([]);
    const pids = [...output().matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid));
    expect(pids).toHaveLength(2);
    // SIGKILL is sent at once, and takes a moment on a busy machine.
    await expect.poll(() => pids.filter(alive)).toEqual([]);
  });
});
