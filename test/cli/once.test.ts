import { expect } from 'vitest';
import { programOf } from '../support/program-of.ts';
import { it, letGo } from './program.ts';

const KEEP = ['--keep', '7d'];

it('runs a command once for each key, and says with -v who did it', async ({ place }) => {
  const run = (key: string, ...flags: string[]) =>
    place.fate('once', key, ...KEEP, ...flags, '--', 'sh', '-c', 'echo ran >> log');
  expect(await run('a')).toMatchObject({ status: 0, err: '' });
  expect(await run('a')).toMatchObject({ status: 0, err: '' });
  const told = await run('a', '-v');
  // A slow machine may also be told that it waits.
  expect(told.err).toMatch(/^holdfast: "a" has been done by \S+, pid \d+\.$/m);
  expect(place.read('log')).toBe('ran\n');
  await run('b');
  expect(place.read('log')).toBe('ran\nran\n');
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
});

it('runs it again after a failure, whose status it passes on', async ({ place }) => {
  const script = 'echo ran >> log; [ -e good ] || exit 7';
  const run = () => place.fate('once', 'a', ...KEEP, '--', 'sh', '-c', script);
  expect(await run()).toMatchObject({ status: 7, err: '' });
  place.write('good');
  expect(await run()).toMatchObject({ status: 0, err: '' });
  expect(await run()).toMatchObject({ status: 0, err: '' });
  expect(place.read('log')).toBe('ran\nran\n');
});

it('--try does not wait for another; without it, it waits and does nothing', async ({ place }) => {
  const first = place.start(['once', 'a', ...KEEP, '--', 'cat']);
  await place.holding(1, 0);
  const tried = await place.fate('once', 'a', ...KEEP, '--try', '--', 'touch', 'ran');
  expect(tried).toMatchObject({ status: 75, err: expect.stringContaining('is being done on') });
  const zero = await place.fate('once', 'a', ...KEEP, '--try', '-E', '0', '--', 'touch', 'ran');
  expect(zero).toMatchObject({ status: 0, err: '' });
  await letGo(first, await place.wait('once', 'a', ...KEEP, '--', 'touch', 'ran'));
  expect(place.has('ran')).toBe(false);
});

it('an eviction ends the command, and the key is free', async ({ place }) => {
  const first = place.start(['once', 'a', ...KEEP, '--', 'sleep', '60']);
  await place.holding(1, 0);
  await place.evict('once:a', '--now');
  expect((await first.fate).status).toBe(79);
  const again = await place.fate('once', 'a', ...KEEP, '--', 'echo', 'ran');
  expect(again).toMatchObject({ status: 0, out: 'ran\n' });
});

it('runs nothing if SIGTERM comes between the lock and the command', async ({ place }) => {
  const store = `module:${programOf('test/cli/children/early-store.ts').file}?${place.file}`;
  const fate = await place.fate('once', 'a', ...KEEP, '--store', store, '--', 'touch', 'ran');
  expect(fate).toEqual({ status: 143, signal: null, out: '', err: '' });
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
  expect(place.has('ran')).toBe(false);
  // It has not been done.
  const again = await place.fate('once', 'a', ...KEEP, '--', 'echo', 'again');
  expect(again.out).toBe('again\n');
});
