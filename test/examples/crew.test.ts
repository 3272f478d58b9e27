import { expect, it, onTestFinished } from 'vitest';
import { Crew, killAll } from '../../examples/shared/crew.ts';

it('one that is started again at once is another one, with the old name', async () => {
  let here = 0;
  const crew = new Crew<'stop', 'here'>(new URL('./crew-member.mjs', import.meta.url), () => {
    here++;
  });
  onTestFinished(killAll);
  crew.start('ann', {});
  await crew.until('she is there', () => here === 1);
  crew.signal('ann', 'SIGKILL');
  const pid = crew.start('ann', {});
  await crew.until('she is there again', () => here === 2);
  expect(crew.size).toBe(1);
  process.kill(pid, 'SIGKILL');
  const end = crew.until('she is gone', () => crew.size === 0);
  await expect(end).rejects.toThrow('ann ended unexpectedly: SIGKILL.');
});
