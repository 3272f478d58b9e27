/** In processes of their own: a client that goes wrong here stands still, and takes all memory. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const SCRIPT = join(import.meta.dirname, 'children/reset.ts');

it.each(['retires', 'destroys'])('a client %s a connection because a stream ended', async (how) => {
  const child = fork(SCRIPT, [how], { execArgv: ['--import', 'tsx'] });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await Promise.race([once(child, 'message'), exited]);
  // What takes milliseconds has not come for ever, and the memory of the machine lasts longer.
  const late = once(AbortSignal.timeout(5000), 'abort').then(() => ['it stands still']);
  const [said] = await Promise.race([once(child, 'message'), exited, late]);
  expect(said).toBe('all have ended');
});
