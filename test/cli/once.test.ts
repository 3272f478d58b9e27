import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { Place } from './program.ts';

const KEEP = ['--keep', '7d'];

it('runs a command once for each key, and says with -v who did it', async () => {
  const place = new Place();
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

it('runs it again after a failure, whose status it passes on', async () => {
  const place = new Place();
  const script = 'echo ran >> log; [ -e good ] || exit 7';
  const run = () => place.fate('once', 'a', ...KEEP, '--', 'sh', '-c', script);
  expect(await run()).toMatchObject({ status: 7, err: '' });
  await place.fate('run', 'x', '--', 'touch', 'good');
  expect(await run()).toMatchObject({ status: 0, err: '' });
  expect(await run()).toMatchObject({ status: 0, err: '' });
  expect(place.read('log')).toBe('ran\nran\n');
});

it('a killed attempt leaves no record', async () => {
  const place = new Place();
  const first = place.start(['once', 'a', ...KEEP, '--ttl', '200ms', '--', 'sleep', '60']);
  await place.holding(1, 0);
  first.kill('SIGKILL');
  const fate = await place.fate('once', 'a', ...KEEP, '--', 'sh', '-c', 'echo ran >> log');
  expect([fate.status, place.read('log')]).toEqual([0, 'ran\n']);
});

it('--try does not wait for another; without it, it waits and does nothing', async () => {
  const place = new Place();
  const first = place.start(['once', 'a', ...KEEP, '--', 'cat']);
  await place.holding(1, 0);
  const tried = await place.fate('once', 'a', ...KEEP, '--try', '--', 'touch', 'ran');
  expect(tried).toMatchObject({ status: 75, err: expect.stringContaining('is being done on') });
  const zero = await place.fate('once', 'a', ...KEEP, '--try', '-E', '0', '--', 'touch', 'ran');
  expect(zero).toMatchObject({ status: 0, err: '' });
  const waits = place.start(['once', 'a', ...KEEP, '--', 'touch', 'ran']);
  await place.holding(1, 1);
  first.process.stdin?.end();
  expect([(await first.fate).status, (await waits.fate).status]).toEqual([0, 0]);
  expect((await place.fate('run', 'x', '--', 'test', '-e', 'ran')).status).toBe(1);
});

it('an eviction ends the command, and the key is free', async () => {
  const place = new Place();
  const first = place.start(['once', 'a', ...KEEP, '--', 'sleep', '60']);
  await place.holding(1, 0);
  const { out } = await place.fate('show', 'once:a', '--json');
  const { token } = JSON.parse(out).holders[0] as { token: string };
  await place.fate('evict', 'once:a', '--token', token, '--reason', 'a test', '--now');
  expect((await first.fate).status).toBe(79);
  const again = place.start(['once', 'a', ...KEEP, '--', 'touch', 'ran']);
  await until(() => again.process.exitCode !== null);
  expect((await again.fate).status).toBe(0);
});
