/** A lock that goes from one command to the next, by way of a file. */
import { copyFileSync, readdirSync, statSync } from 'node:fs';
import { expect } from 'vitest';
import { it } from './program.ts';

const TOKEN = ['sh', '-c', 'echo $HOLDFAST_RESOURCE $HOLDFAST_TOKEN'];
/** Longer than a few processes take to start. */
const GIVE = ['run', 'a', '--ttl', '30s', '--hand-over', 'lease', '--'];

it('goes on with it, and lets nobody in between', async ({ place }) => {
  const first = await place.fate(...GIVE, ...TOKEN);
  expect(first).toMatchObject({ status: 0, err: '' });
  expect(statSync(place.path('lease')).mode & 0o777).toBe(0o600);
  expect((await place.fate('run', 'a', '--try', '--', 'true')).status).toBe(75);
  expect((await place.fate('show', 'a')).out).toMatch(/^in transit +\d+ +mutex/m);
  const second = await place.fate('resume', 'lease', '--', ...TOKEN);
  expect(second).toMatchObject({ status: 0, err: '' });
  const [given = '', taken = ''] = [first, second].map(({ out }) => out.split(' ')[1]);
  expect(second.out).toMatch(/^a /);
  expect(BigInt(taken)).toBe(BigInt(given) + 1n);
  expect(place.has('lease')).toBe(false);
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
});

it('is resumed once, however many have the file', async ({ place }) => {
  await place.fate(...GIVE, 'true');
  copyFileSync(place.path('lease'), place.path('copy'));
  const again = ['--hand-over', 'lease', '--ttl', '30s', '--'];
  expect((await place.fate('resume', 'lease', ...again, 'true')).status).toBe(0);
  const late = await place.fate('resume', 'copy', '--', 'touch', 'ran');
  expect(late).toMatchObject({ status: 75, out: '' });
  expect(late.err).toMatch(/another has resumed it already/);
  expect((await place.fate('resume', 'lease', '--', 'true')).status).toBe(0);
  const missing = await place.fate('resume', 'lease', '--', 'touch', 'ran');
  expect(missing).toMatchObject({ status: 75, out: '' });
  expect(missing.err).toMatch(/No lease can be read from "lease": ENOENT/);
  expect(place.has('ran')).toBe(false);
});

it('is released by a command that fails', async ({ place }) => {
  expect((await place.fate(...GIVE, 'false')).status).toBe(1);
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
  expect(readdirSync(place.folder).filter((name) => name.startsWith('lease'))).toEqual([]);
});

it('says so if the file cannot be written', async ({ place }) => {
  const fate = await place.fate('run', 'a', '--hand-over', 'no/lease', '--', 'touch', 'ran');
  expect(fate).toMatchObject({ status: 74, out: '' });
  expect(fate.err).toMatch(/"no\/lease" cannot be written/);
  // Nobody could go on with it.
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
});

it('may come by a pipe, which stays', async ({ place }) => {
  await place.fate(...GIVE, 'true');
  const script = 'mkfifo way; cat lease > way & $holdfast resume way -- echo ran';
  const fate = await place.shell(script, { stdio: ['ignore', 'pipe', 'pipe'] }).fate;
  expect(fate).toMatchObject({ status: 0, out: 'ran\n', err: '' });
  expect(place.has('way')).toBe(true);
});
