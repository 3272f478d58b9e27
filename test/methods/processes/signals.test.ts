import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';

/** Two `Locks` of one process; the first is idle, the second has work that takes a moment. */
const PROGRAM = `
  import { closeOnSignal, createLocks } from 'holdfast';
  import { memoryStore } from 'holdfast/memory';
  const [idle, busy] = [0, 1].map(() => closeOnSignal(createLocks(memoryStore())));
  busy.mutex('a').run(async () => {
    console.log('working');
    await new Promise((resolve) => setTimeout(resolve, 300));
    console.log('done');
  });
`;

it('a signal takes effect when all locks of the process have closed', async () => {
  const options = ['--import', 'tsx', '--input-type=module', '--eval', PROGRAM];
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text;
    if (said === 'working\n') child.kill('SIGTERM');
  });
  const [, signal] = await once(child, 'close');
  expect([said, signal]).toEqual(['working\ndone\n', 'SIGTERM']);
});
