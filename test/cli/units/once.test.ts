import { expect, it } from 'vitest';
import { programOf } from '../../support/program-of.ts';
import { Place } from '../program.ts';

it('once runs nothing if SIGTERM comes between the lock and the command', async () => {
  const place = new Place();
  const store = `module:${programOf('test/cli/children/early-store.ts').file}?${place.file}`;
  const flags = ['--keep', '7d', '--store', store];
  const fate = await place.fate('once', 'a', ...flags, '--', 'touch', 'ran');
  expect(fate).toEqual({ status: 143, signal: null, out: '', err: '' });
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
  // It has not been done.
  const again = await place.fate('once', 'a', '--keep', '7d', '--', 'sh', '-c', 'echo $(ls)');
  expect(again.out).not.toMatch(/\bran\b/);
  expect(again.out).toContain('locks.db');
});
