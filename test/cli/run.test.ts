import { statSync } from 'node:fs';
import { expect } from 'vitest';
import { until } from '../support/until.ts';
import { type Fate, it, letGo, Place } from './program.ts';

it('gives the command its token, and leaves nothing behind', async ({ place }) => {
  const show = 'echo $HOLDFAST_RESOURCE $HOLDFAST_TOKEN $HOLDFAST_LINEAGE';
  const first = await place.fate('run', 'a', '--', 'sh', '-c', `${show}; $holdfast show a`);
  const second = await place.fate('run', 'a', '--', 'sh', '-c', show);
  const tokens = [first, second].map(({ out }) => BigInt(/^a (\d+) sqlite:\w+$/m.exec(out)![1]!));
  expect(tokens[1]).toBeGreaterThan(tokens[0]!);
  expect(first.out).toMatch(new RegExp(`^holds +${tokens[0]} +mutex .* sh `, 'm'));
  for (const fate of [first, second]) expect(fate).toMatchObject({ status: 0, err: '' });
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
});

it.each([
  ['its own', 'exit 75', 75],
  ['of a command that was killed', 'kill -KILL $$', 137],
  ['of a command that was interrupted', 'kill -INT $$', 130],
])('exits with the status of the command: %s', async (_, script, status) => {
  const fate = await new Place().fate('run', 'a', '--', 'sh', '-c', script);
  expect(fate).toMatchObject({ status, signal: null, err: '' });
});

it('leaves the standard input and output to the command', async ({ place }) => {
  const text = 'a line of text\n'.repeat(100_000);
  place.write('in', text);
  // Through pipes that are empty, and then full, for a while: a non-blocking one would fail.
  const script = '(sleep 0.5; cat in) | $holdfast run a -- cat | (sleep 1; cmp - in && echo same)';
  expect(await place.shell(script).fate).toMatchObject({ status: 0, out: 'same\n', err: '' });
});

/** Stays until the test says so. */
const STAY = ['sh', '-c', 'echo in; until [ -e go ] || [ ! -e "$PWD" ]; do sleep 0.05; done'];

it.for([
  ['two of four', ['--limit=2', '--limit=2', '--limit=2', '--limit=2'], 2],
  ['by their permits', ['--limit=3 --permits=2', '--limit=3 --permits=2'], 1],
  ['readers together, and a writer alone', ['--read', '--shared', '--write'], 2],
] as const)('lets in as many as there is room for: %s', async ([, all, room], { place }) => {
  const fates: Promise<Fate>[] = [];
  for (const flags of all) {
    fates.push(place.fate('run', 'a', ...flags.split(' '), '--', ...STAY));
    await place.holding(Math.min(fates.length, room), Math.max(fates.length - room, 0));
  }
  place.write('go');
  for (const fate of fates) expect(await fate).toMatchObject({ status: 0, out: 'in\n' });
});

const TOLD = /^holdfast: Not acquired within \d+ ms: "a"; held by nightly on .+\n$/;

it.each([
  ['--try', ['--try'], 75, TOLD],
  ['--wait', ['--wait', '50ms'], 75, TOLD],
  ['a status of the caller', ['--wait=10ms', '-E9'], 9, TOLD],
  ['0, and nobody wants to hear of it', ['--try', '-E', '0'], 0, /^$/],
  ['0, which -v mentions', ['--try', '-E', '0', '-v'], 0, TOLD],
])('tells who holds it, and runs nothing: %s', async (_, flags, status, told) => {
  const place = new Place();
  const holder = await place.hold('a', '--label', 'nightly');
  const fate = await place.fate('run', 'a', ...flags, '--', 'touch', 'ran');
  expect(fate).toMatchObject({ status, out: '' });
  expect(fate.err).toMatch(told);
  expect(await place.counts()).toEqual({ holders: 1, waiters: 0 });
  await letGo(holder);
  expect(place.has('ran')).toBe(false);
});

it('--min-hold keeps the lock taken after a quick command', async ({ place }) => {
  const first = await place.fate('run', 'a', '--min-hold', '2m', '--', 'true');
  expect(first).toMatchObject({ status: 0, err: '' });
  expect((await place.fate('run', 'a', '--try', '--', 'true')).status).toBe(75);
});

it('--max-hold ends the command', async () => {
  const run = ['run', 'a', '--max-hold', '300ms', '--', 'sleep', '60'];
  const { status, err } = await new Place().fate(...run);
  expect([status, err]).toEqual([79, expect.stringMatching(/held for longer than maxHold/)]);
});

it('is evicted while it waits: not acquired, and nothing runs', async ({ place }) => {
  const holder = await place.hold('a');
  const waiter = await place.wait('run', 'a', '--', 'touch', 'ran');
  const token = await place.tokenOf('a', 'waiters');
  await place.fate('evict', 'a', '--token', token, '--reason', 'a test');
  const one = expect.stringMatching(/^holdfast: .+\n$/);
  expect(await waiter.fate).toMatchObject({ status: 75, err: one });
  await letGo(holder);
  expect(place.has('ran')).toBe(false);
});

it('--replace-waiting leaves the command that runs, and only the newest waits', async () => {
  const place = new Place();
  const run = ['run', 'a', '--replace-waiting', '--'];
  const first = await place.hold('a', '--replace-waiting');
  const second = await place.wait(...run, 'touch', 'ran');
  const third = place.fate(...run, 'echo', 'the newest');
  const replaced = { status: 75, err: expect.stringMatching(/a newer request has taken its/) };
  expect(await second.fate).toMatchObject(replaced);
  await letGo(first);
  expect(await third).toMatchObject({ status: 0, out: 'the newest\n' });
  expect(place.has('ran')).toBe(false);
});

it('--replace ends the command that runs, and then the newest runs', async ({ place }) => {
  const running = await place.hold('a', '--replace');
  const newest = await place.fate('run', 'a', '--replace', '--', 'echo', 'the newest');
  expect(newest).toMatchObject({ status: 0, out: 'the newest\n' });
  const replaced = { status: 79, err: expect.stringMatching(/newer request .* Ending the/) };
  expect(await running.fate).toMatchObject(replaced);
});

it('gives the lock back when the command ends, whatever it left running', async ({ place }) => {
  const script =
    '(until [ -e go ] || [ ! -e "$PWD" ]; do sleep 0.05; done; echo done > left) >&- 2>&- & exit 3';
  expect((await place.fate('run', 'a', '--', 'sh', '-c', script)).status).toBe(3);
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
  place.write('go');
  await until(() => place.read('left') === 'done\n');
});

it('keeps its locks in the state directory of the user, which only he can enter', async () => {
  const place = new Place();
  const env = { ...place.env, HOLDFAST_STORE: '', XDG_STATE_HOME: place.path('state') };
  const fate = await place.start(['run', 'a', '--', 'true'], { env }).fate;
  expect(fate).toMatchObject({ status: 0, err: '' });
  expect(statSync(place.path('state/holdfast/locks.db')).isFile()).toBe(true);
  expect(statSync(place.path('state/holdfast')).mode & 0o777).toBe(0o700);
});

it('shows the warnings of others', async ({ place }) => {
  const env = { ...place.env, NODE_OPTIONS: `--require ${place.path('warn.cjs')}` };
  place.write('warn.cjs', `process.emitWarning('look here');`);
  const fate = await place.start(['run', 'a', '--', 'true'], { env }).fate;
  expect(fate.err).toContain('Warning: look here');
});
