import { copyFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect } from 'vitest';
import { builtPackage } from '../support/program-of.ts';
import { type Fate, it, letGo, Place } from './program.ts';

const ONE_LINE = /^holdfast: .+\n$/;

async function refused(place: Place, args: readonly string[], env = place.env): Promise<Fate> {
  const fate = await place.start(args, { env, stdio: ['ignore', 'pipe', 'pipe'] }).fate;
  expect(fate).toMatchObject({ signal: null, out: '', err: expect.stringMatching(ONE_LINE) });
  return fate;
}

describe('usage errors say what is wrong, and hold nothing', () => {
  it.for<[string, string, RegExp]>([
    ['', '', /verb is missing/],
    ['rnu a -- true', '', /no verb "rnu"; did you mean run\?/],
    ['unlock a', '', /no verb "unlock"; did you mean evict\?/],
    ['frobnicate', '', /no verb "frobnicate"; see 'holdfast --help'/],
    ['--jsn', '', /no flag "--jsn"; did you mean --json\?/],
    ['run -- true', '', /NAME is missing/],
    ['run a', '', /command is missing/],
    ['run a --', '', /command is missing/],
    ['run a true', '', /"true" is one word too many: write run NAME -- COMMAND/],
    ['run a', '--tyr', /no flag "--tyr"; did you mean --try\?/],
    ['run a', '-try', /no flag "-try"; did you mean --try\?/],
    ['run a', '-x', /no flag "-x"\n/],
    ['run a', '--try=yes', /--try takes no value/],
    ['run a', '--try --try', /--try is given twice/],
    ['run a', '--wait --try', /--wait needs a value/],
    ['run a', '--wait=', /--wait takes a duration .*, not ""/],
    ['run a', '--wait 10', /--wait takes a duration .*, not "10"; did you mean 10s\?/],
    ['run a', '--wait=-5s', /--wait takes a duration .*, not "-5s"/],
    ['run a', '--wait 25d', /--wait takes a duration .* at most 24d, not "25d"/],
    ['run a', '--grace soon', /--grace takes a duration/],
    ['run a', '--ttl 99ms', /--ttl must be at least 100ms/],
    ['run a', '--try --wait 1s', /--try takes no --wait/],
    ['run a', '--try --replace', /--try takes no --replace: it never waits/],
    ['run a', '--limit 0', /--limit takes a whole number from 1 to 1073741824, not "0"/],
    ['run a', '--limit 1e3', /--limit takes a whole number/],
    ['run a', '--limit 1073741825', /--limit takes a whole number/],
    ['run a', '--limit 2 --permits 3', /--permits takes a whole number from 1 to 2, not "3"/],
    ['run a', '--permits 2', /--permits needs --limit/],
    ['run a', '--limit 2 --read', /different kinds of lock/],
    ['run a', '--shared --write', /different kinds of lock/],
    ['run a', '--max-hold 0s', /--max-hold must be more than 0/],
    ['run a', '--min-hold 2s --max-hold 1s', /--max-hold must not be less than --min-hold/],
    [
      'run a',
      '--min-hold 2m --store redis://127.0.0.1:1',
      /minHold is 120000 ms, more than maxTtl/,
    ],
    ['resume', '', /FILE is missing/],
    ['once a', '', /--keep is missing/],
    ['once a', '--keep 7', /--keep takes a duration such as 12h or 7d, not "7"/],
    ['elect boss', '--seats 0', /--seats takes a whole number/],
    ['elect boss', '--wait 1s', /no flag "--wait"/],
    ['run a', '-E 256', /-E takes a whole number from 0 to 255, not "256"/],
    ['run a', '-Ex', /-E takes a whole number from 0 to 255, not "x"/],
    [`run ${'é'.repeat(257)}`, '--try', /name has 514 bytes of UTF-8; at most 512/],
    ['show', '', /NAME is missing/],
    ['evict a --reason x', '', /--token is missing/],
    ['evict a --reason x --token 12x', '', /--token takes a number .*, not "12x"/],
    ['evict a --token 12', '', /--reason is missing/],
    ['doctor redis://127.0.0.1:1', '', /one word too many; a store needs --store/],
  ])('%s %s', async ([words, flags, message], { place }) => {
    const split = (text: string): string[] => text.split(' ').filter(Boolean);
    const args = [...split(words), ...split(flags), ...(flags ? ['--', 'touch', 'ran'] : [])];
    const { status, err } = await refused(place, args);
    expect(err).toMatch(message);
    expect(status).toBe(64);
    expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
    expect(place.has('ran')).toBe(false);
  });

  it('and so for an empty name', async () => {
    const { status, err } = await refused(new Place(), ['run', '', '--', 'true']);
    expect([status, err]).toEqual([64, 'holdfast: The name must not be empty.\n']);
  });

  it.for([
    'run a --ttl 99ms -- true',
    `run ${'x'.repeat(513)} -- true`,
    `show ${'x'.repeat(513)}`,
    `watch ${'x'.repeat(513)}`,
    `evict ${'x'.repeat(513)} --token 1 --reason x`,
    `evict a --token 1 --reason ${'x'.repeat(1_025)}`,
    'ls a b',
  ])('before anything is made: %s', async (words, { place }) => {
    const env = { ...place.env, HOLDFAST_STORE: '', XDG_STATE_HOME: place.path('state') };
    expect((await refused(place, words.split(' '), env)).status).toBe(64);
    expect(place.has('state')).toBe(false);
  });
});

it.for([
  ['not found', 'no-such-command', 127],
  ['not executable', './text', 126],
] as const)('a command that is %s', async ([, command, status], { place }) => {
  place.write('text', 'echo no\n');
  const fate = await refused(place, ['run', 'a', '--', command]);
  expect(fate.status).toBe(status);
  expect(fate.err).toContain(JSON.stringify(command));
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
});

it.for([
  ['no URL', 'locks', 78, /named by a URL/],
  ['an empty one', '', 78, /named by a URL/],
  ['in memory', 'sqlite::memory:', 78, /in memory cannot be shared/],
  ['of this process alone', 'memory:', 78, /would lock nothing/],
  ['a directory', 'sqlite:.', 69, /cannot be opened/],
  ['no database', 'sqlite:text', 69, /not an SQLite database/],
  ['of another layout', 'sqlite:layout.db', 77, /layout 99/],
] as const)('a store that is %s', async ([, url, status, message], { place }) => {
  place.write('text', 'This is no database, but long enough.\n'.repeat(99));
  await place.fate('run', 'a', '--store', 'sqlite:layout.db', '--', 'true');
  const database = new Database(place.path('layout.db'));
  database.exec('UPDATE holdfast_meta SET layout = 99, oldest = 99');
  database.close();
  for (const words of ['run a -- touch ran', 'ls']) {
    const [verb = '', ...rest] = words.split(' ');
    const fate = await refused(place, [verb, `--store=${url}`, ...rest]);
    expect(fate.err).toMatch(message);
    expect(fate.status).toBe(status);
  }
  expect(place.has('ran')).toBe(false);
});

it('a store that another keeps locked', async ({ used: place }) => {
  const database = new Database(place.file);
  database.exec('BEGIN EXCLUSIVE');
  // It tries for as long as the store says that somebody else is at work.
  const flags = ['--try', '--store', `sqlite:${place.file}?busyTimeout=300ms`];
  const { status, err } = await refused(place, ['run', 'a', ...flags, '--', 'true']);
  database.close();
  expect(status).toBe(69);
  expect(err).toMatch(/was locked by another connection/);
});

it.for(['/proc', '/dev/null/state'])(
  'a state directory that cannot be made: %s',
  async (state, { place }) => {
    const env = { ...place.env, HOLDFAST_STORE: '', XDG_STATE_HOME: state };
    expect((await refused(place, ['run', 'a', '--', 'true'], env)).status).toBe(69);
  },
);

const builtIn = process.getBuiltinModule('node:sqlite') !== undefined;

/** Runs the program where no package can be found. */
async function withoutPackages(words: string): Promise<Fate> {
  const place = new Place();
  const dist = builtPackage();
  cpSync(dist, place.path('dist'), { recursive: true });
  copyFileSync(join(dist, '../package.json'), place.path('package.json'));
  return place.shell(`${process.execPath} dist/cli.mjs ${words}`).fate;
}

it('a missing package', async ({ skip }) => {
  skip(builtIn, 'not promised: Node has an SQLite of its own here, and needs no package');
  const { status, err } = await withoutPackages('run a -- true');
  expect(status).toBe(78);
  expect(err).toMatch(/^holdfast: .*npm install libsql.*\n$/);
});

it.each(['ls', 'migrate'])('a missing package for a server: %s', async (verb) => {
  const { status, err } = await withoutPackages(`${verb} --store postgres://127.0.0.1:1/x`);
  expect(status).toBe(78);
  expect(err).toMatch(/^holdfast: .*npm install pg.*\n$/);
});

it('no package is needed by the demo', async () => {
  expect(await withoutPackages('demo')).toMatchObject({ status: 0, err: '' });
});

it('another kind of lock under this name', async ({ place }) => {
  const holder = await place.hold('a');
  const { status, err } = await refused(place, ['run', 'a', '--limit', '2', '--', 'true']);
  expect([status, err]).toEqual([77, expect.stringContaining('as another kind of lock')]);
  await letGo(holder);
});

it('--json tells errors as JSON', async ({ place }) => {
  const holder = await place.hold('a');
  const told = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await place.fate(...args)).err);
  const message = expect.any(String);
  expect(await told('run', 'a', '--json', '--try', '-E', '9', '--', 'true')).toEqual({
    error: { status: 9, code: 'ACQUIRE_TIMEOUT', message },
  });
  expect(await told('--json', 'rnu')).toEqual({ error: { status: 64, message } });
  expect(await told('ls', '--json', '--store', 'sqlite:.')).toEqual({
    error: { status: 69, code: 'STORE', message },
  });
  await letGo(holder);
});

it('a working directory that is gone', async ({ place }) => {
  const run = '$holdfast run a --store sqlite:locks.db -- true';
  expect(await place.shell(`mkdir gone; cd gone; rmdir ../gone; ${run}`).fate).toMatchObject({
    ...{ status: 69, out: '', err: expect.stringMatching(/^holdfast: .*ENOENT.*\n$/) },
  });
});

it.for([
  ['standard input', '$holdfast run a -- sh -c "cat; echo end" <&-', 0, 'end\n'],
  ['standard output', '$holdfast run a -- sh -c "echo lost; exit 3" >&-', 3, ''],
  ['output of a list', '$holdfast run a -- true; $holdfast ls --json >&-', 0, ''],
  ['standard error', '$holdfast rnu 2>&-', 64, ''],
  ['all three', '$holdfast run a -- true <&- >&- 2>&-', 0, ''],
] as const)('a closed %s', async ([, script, status, out], { place }) => {
  expect(await place.shell(script).fate).toEqual({ status, signal: null, out, err: '' });
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
});

it('no room for what it prints', async () => {
  const { status, err } = await new Place().shell('$holdfast --help > /dev/full').fate;
  expect([status, err]).toEqual([74, expect.stringMatching(/^holdfast: The output .*ENOSPC.*\n$/)]);
});

it('repeats no password of a URL whose scheme is missing', async ({ place }) => {
  for (const store of ['app_user:secret@host/db', '//app:secret@host/db', ':secret@host/0']) {
    for (const words of ['run a -- true', 'show a']) {
      const { status, err } = await place.fate('--store', store, ...words.split(' '));
      expect([status, err]).toEqual([78, expect.stringMatching(/without postgres:/)]);
      expect(err).not.toContain('secret');
    }
  }
  const file = await place.fate('run', 'a', '--store', './at:home@here.db', '--', 'true');
  expect(file.status).toBe(0);
});
