/** `top` and a store that replies late; on real terminals it is in test/cli/terminal.test.ts. */
import { PassThrough } from 'node:stream';
import { createLocks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { aroundStore } from 'holdfast/testkit';
import { expect, it, onTestFinished, vi } from 'vitest';
import { browse } from '../../../src/cli/top/browse.ts';
import { gate } from '../../support/gate.ts';

it('an eviction undoes no key that is pressed until the store replies', async () => {
  const reply = gate();
  const store = aroundStore(memoryStore(), async ({ verb }, next) => {
    if (verb === 'evict') await reply.opened;
    return next();
  });
  const locks = createLocks(store);
  onTestFinished(() => locks.close({ drain: 0 }));
  const keys = Object.assign(new PassThrough(), { setRawMode: () => keys });
  const screen = new PassThrough({ encoding: 'utf8' });
  let shown = '';
  screen.on('data', (text: string) => (shown = text));
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(keys as unknown as typeof process.stdin);
  vi.spyOn(process, 'stdout', 'get').mockReturnValue(screen as unknown as typeof process.stdout);
  // No signal comes.
  vi.spyOn(process, 'once').mockReturnValue(process);
  onTestFinished(() => void vi.restoreAllMocks());

  const { token } = await locks.mutex('job', { heartbeat: false, ttl: '30s' }).acquire();
  const inUse = async () => [await locks.inspect('job')];
  const ended = browse(locks, { inUse, everyMs: 3_600_000 });
  await expect.poll(() => shown).toContain('1 in use');
  keys.write('\reit hangs\rjob\r');
  await expect.poll(() => shown).toContain('job: 1 holding');
  keys.write('\u001b');
  await expect.poll(() => shown).toContain('1 in use');
  reply.open();
  await expect.poll(() => shown).toContain(`Evicted: ${token}.`);
  expect(shown).toContain('1 in use');
  keys.write('q');
  expect(await ended).toBe(0);
});
