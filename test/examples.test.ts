import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A line of what each of them prints. */
const EXAMPLES: Readonly<Record<string, RegExp>> = {
  '01-mutex.ts': /^20 deposits of 10 at the same time make 200$/m,
  '02-once-per-cluster.ts': /^machine 3 leaves it to machine 1$/m,
  '03-semaphore.ts': /^started in order: small, medium, large, tiny; at most 4 of 4/m,
  '04-rw-lock.ts': /^read before: 1,1; after: 2,2$/m,
  '05-election.ts': /^active: worker 2 and worker 3; standing by: nobody$/m,
  '06-transfer.ts': /^ada has 80, ben has 120$/m,
  '07-fence.ts': /^refused: Token \d+ of "stock:lamp" is stale: \d+ is in\.\nleft: 9$/m,
};

/** The demo takes 15 s on an idle machine, and this may be a busy one. */
const DEMO_MS = 90_000;

let temporary: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'examples-test-'));
});

afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(temporary, { recursive: true, force: true });
});

describe('examples', () => {
  it('are all tried here', () => {
    const files = readdirSync(join(ROOT, 'examples')).filter((file) => /^\d/.test(file));
    expect(files).toEqual(Object.keys(EXAMPLES));
  });

  it.each(Object.entries(EXAMPLES))('%s', async (file, line) => {
    const { code, output } = await start(file).ended;
    expect(output).toMatch(line);
    expect(code).toBe(0);
    expect(leftBehind()).toEqual([]);
  });

  it('take the URL of another store', async () => {
    const { code, output } = await start('01-mutex.ts', 'memory:').ended;
    expect(output).toMatch(EXAMPLES['01-mutex.ts'] as RegExp);
    expect(code).toBe(0);
  });

  it('refuse the URL of a store that does not exist', async () => {
    const { code, output } = await start('01-mutex.ts', 'memroy:').ended;
    expect(output).toContain("did you mean 'memory:'?");
    expect(code).toBe(1);
  });
});

describe('the demo', () => {
  it('shows what a mutex, a fence and an election do', { timeout: DEMO_MS }, async () => {
    const { code, output } = await start('demo.ts').ended;
    expect(output).toMatch(/✓ \d+ of 200 sold: oversold by [1-9]\d*$/m);
    expect(output).toMatch(/with a mutex +✓ 200 of 200 sold: exact$/m);
    expect(output).toMatch(/with mutex and fence +✓ 200 of 200 sold: exact; .* was refused$/m);
    expect(output).toMatch(/^ +refused with StaleTokenError$/m);
    expect(output).toMatch(/election, 2 of 4 +✓ worker \d took over from worker \d, which was /m);
    const [, token, seen] = /its token +(\d+)\s+seen by the fence +(\d+)/.exec(output) ?? [];
    expect(BigInt(seen ?? 0)).toBeGreaterThan(BigInt(token ?? 0));
    expect(output).not.toContain('\u001b');
    expect(code).toBe(0);
    expect(leftBehind()).toEqual([]);
  });

  it('leaves nothing behind when it is interrupted', { timeout: DEMO_MS }, async () => {
    const { output, ended } = start('demo.ts');
    // By then one seller is dead, another one stopped, and two are at work.
    while (!output().includes('SIGSTOP')) await once(child?.stdout as NodeJS.EventEmitter, 'data');
    child?.kill('SIGINT');
    const { code } = await ended;
    expect(code).toBe(130);
    expect(leftBehind()).toEqual([]);
    const pids = [...output().matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid));
    expect(pids).toHaveLength(2);
    // SIGKILL is sent at once, and takes a moment on a busy machine.
    await expect.poll(() => pids.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  });
});

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs an example as its reader would, with a temporary folder of its own. */
function start(file: string, ...args: string[]): { output(): string; ended: Promise<Ended> } {
  const started = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--import',
      './scripts/sources.mjs',
      join('examples', file),
      ...args,
    ],
    { cwd: ROOT, env: { ...process.env, TMPDIR: temporary, TEMP: temporary } },
  );
  child = started;
  let output = '';
  for (const stream of [started.stdout, started.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const ended = once(started, 'close').then(([code]) => ({ code: code as number | null, output }));
  return { output: () => output, ended };
}

/** What the library and its examples have left in the temporary folder. */
function leftBehind(): string[] {
  return readdirSync(temporary).filter((name) => name.startsWith('holdfast'));
}

/** Whether the process still does something: one that has ended may wait for a parent to see it. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) [ZX] /.test(statOf(pid));
  } catch {
    return false;
  }
}

function statOf(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'utf8');
}
