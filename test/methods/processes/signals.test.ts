import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';

const NODE = [process.execPath, '--import', 'tsx', '--input-type=module', '--eval'] as const;
/**
 * Begins a namespace of processes, as a container does: its first process has the number 1. Others
 * than root may do so as the root of a namespace of users, in which they have no more files.
 */
const AS_FIRST = [
  ...['unshare', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])],
  ...['--pid', '--fork', '--kill-child'],
] as const;

/**
 * Three `Locks` of one process: the first is idle, the second has work that takes a moment, and the
 * third has work that is given no time, although it takes nearly as long as is given by default.
 */
const PROGRAM = `
  import { closeOnSignal, createLocks } from 'holdfast';
  import { memoryStore } from 'holdfast/memory';
  const newLocks = (options) => closeOnSignal(createLocks(memoryStore()), options);
  const [, busy, hasty] = [newLocks(), newLocks(), newLocks({ drain: 0 })];
  hasty.mutex('a').run(async ({ signal }) => {
    const late = setTimeout(() => console.log('late'), 9_000);
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    clearTimeout(late);
  }).catch(({ code }) => console.log(code));
  busy.mutex('a').run(async () => {
    console.log('working');
    await new Promise((resolve) => setTimeout(resolve, 300));
    console.log('done');
  });
`;

const SAID = ['LEASE_LOST', 'done', 'working'];

const linesOf = (said: string): string[] => said.trim().split('\n').sort();

it('a signal takes effect when all locks of the process have closed', async () => {
  const [node, ...options] = [...NODE, PROGRAM];
  const child = spawn(node, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text;
    if (said === 'working\n') child.kill('SIGTERM');
  });
  const [, signal] = await once(child, 'close');
  expect([linesOf(said), signal]).toEqual([SAID, 'SIGTERM']);
});

it('also in the first process of a container, which the kernel spares', async ({ skip }) => {
  const [program = '', ...options] = AS_FIRST;
  const cannot = spawnSync(program, [...options, 'true']).status !== 0;
  skip(cannot, 'not promised: namespaces of processes on every machine');
  const inside = `${PROGRAM}
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), 100);
    setInterval(() => {}, 1000);`;
  const child = spawn(program, [...options, ...NODE, inside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text));
  const [status] = await once(child, 'close');
  expect([linesOf(said), status]).toEqual([SAID, 128 + 15]);
});
