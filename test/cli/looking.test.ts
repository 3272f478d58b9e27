import { readdirSync } from 'node:fs';
import Database from 'libsql';
import { expect } from 'vitest';
import { until } from '../support/until.ts';
import { it, letGo, type Place, type Program, pause } from './program.ts';

async function json<T>(place: Place, ...args: string[]): Promise<T> {
  const { out, err } = await place.fate('--json', ...args);
  expect(err).toBe('');
  return JSON.parse(out) as T;
}

type MemberJson = { readonly token: string; readonly pid: number };

interface QueueJson {
  readonly holders: readonly MemberJson[];
  readonly waiters: readonly MemberJson[];
}

it('ls lists names in order, those with a prefix', async ({ place }) => {
  const holders: Program[] = [];
  for (const name of ['b:2', 'a', 'b:1', 'new\nline', 'caf\u00e9']) {
    holders.push(await place.hold(name));
  }
  expect((await place.fate('ls')).out).toBe('a\nb:1\nb:2\ncaf\u00e9\nnew\\u{a}line\n');
  expect((await place.fate('ls', 'b:')).out).toBe('b:1\nb:2\n');
  expect(await json(place, 'ls', '--', '-')).toEqual([]);
  expect(await json(place, 'ls', 'n')).toEqual(['new\nline']);
  expect(await json(place, 'ls', 'c')).toEqual(['caf\u00e9']);
  await letGo(...holders);
  expect(await place.fate('ls')).toMatchObject({ status: 0, out: '', err: '' });
});

it('ls -l tells how much is taken, by whom, and how many wait', async ({ place }) => {
  const holder = await place.hold('backup', '--label', 'nightly');
  const waiter = await place.wait('run', 'backup', '--', 'cat');
  const gpu = await place.hold('gpu', '--limit', '4', '--permits', '3');
  const { out, err } = await place.fate('ls', '-l');
  expect(err).toBe('');
  const [headings, ...rows] = out.trimEnd().split('\n');
  expect(headings).toMatch(/^name +used +held by +for +waiting +first for$/);
  expect(rows).toEqual([
    expect.stringMatching(
      new RegExp(`^backup +1 of 1 +\\S+ pid ${holder.pid} \\(nightly\\) +[\\d.]+ s +1 +[\\d.]+ s$`),
    ),
    expect.stringMatching(new RegExp(`^gpu +3 of 4 +\\S+ pid ${gpu.pid} \\(cat\\) +[\\d.]+ s +0$`)),
  ]);
  expect(await json(place, 'ls', '-l', 'g')).toMatchObject([
    { resource: 'gpu', limit: 4, holders: [{ pid: gpu.pid, permits: 3 }], waiters: [] },
  ]);
  await letGo(holder, waiter, gpu);
  expect(await place.fate('ls', '-l')).toMatchObject({ status: 0, out: '', err: '' });
});

it.for(['ls', 'ls -l', 'show a', 'watch a', 'evict a --token 1 --reason x'])(
  'a verb that looks makes no file: %s',
  async (words, { place }) => {
    for (const store of ['sqlite:./typo.db', './typo.db', 'sqlite://./typo.db?busyTimeout=1s']) {
      const { status, err } = await place.fate(...words.split(' '), '--store', store);
      expect([status, err]).toEqual([69, expect.stringMatching(/There is no file ".*typo\.db"/)]);
    }
    const env = { HOLDFAST_STORE: '', XDG_STATE_HOME: place.path('state') };
    const own = await place.shell(`$holdfast ${words}`, { env }).fate;
    expect([own.status, own.err]).toEqual([69, expect.stringContaining('no lock has been taken')]);
    expect(readdirSync(place.folder)).toEqual([]);
  },
);

it('takes a plain path as the store', async ({ place }) => {
  const inner = ['sh', '-c', '$holdfast ls --store plain.db'];
  const { out } = await place.fate('run', 'a', '--store', './plain.db', '--', ...inner);
  expect(out).toBe('a\n');
});

it('sends no orders to a terminal, in JSON either', async ({ place }) => {
  // An escape, one in a single byte of Latin-1, a change of direction, and one beyond 16 bits.
  const name = 'a\u001b[2J\u009b\u202e\u{e0001}';
  const holder = await place.hold(name, '--label', name);
  const all = [['ls'], ['show', name], ['run', name, '--try', '--', 'true']];
  for (const args of all.flatMap((each) => [each, ['--json', ...each]])) {
    const { out, err } = await place.fate(...args);
    expect(out + err).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  }
  expect(await json(place, 'ls')).toEqual([name]);
  expect(await json(place, 'show', name)).toMatchObject({ resource: name });
  await letGo(holder);
});

it('show tells holders, then waiters in order', async ({ place }) => {
  const four = ['gpu', '--limit', '4'] as const;
  const holder = await place.hold(...four, '--permits', '3', '--label', 'big\u001b[2J');
  const first = await place.wait('run', ...four, '--permits', '2', '--', 'cat');
  const second = await place.wait('run', ...four, '--', 'cat');

  const queue = await json<QueueJson>(place, 'show', 'gpu');
  const member = {
    ...{ token: expect.stringMatching(/^\d{15,}$/), kind: 'permits', host: expect.any(String) },
    ...{ since: expect.stringMatching(/^\d{4}-.*Z$/), ttlMs: 10_000, leftMs: expect.any(Number) },
  };
  expect(queue).toEqual({
    ...{ resource: 'gpu', limit: 4, why: 'queue' },
    holders: [{ ...member, permits: 3, pid: holder.pid, label: 'big\u001b[2J' }],
    waiters: [
      { ...member, permits: 2, pid: first.pid, label: 'cat' },
      { ...member, permits: 1, pid: second.pid, label: 'cat' },
    ],
  });

  const { out } = await place.fate('show', 'gpu');
  const [heading, columns, ...rows] = out.trimEnd().split('\n');
  expect(heading).toBe('gpu: 1 holding, 2 waiting');
  expect(columns?.trim().split(/ +/)).toEqual([
    ...['token', 'kind', 'host', 'pid', 'label', 'since', 'left'],
  ]);
  const shown = [...queue.holders, ...queue.waiters].map(({ token, pid }, at) => {
    const state = at === 0 ? 'holds' : 'waits';
    return new RegExp(`^${state} +${token} +[321] of 4 .+ ${pid} .+ \\d+\\.\\ds$`);
  });
  expect(rows).toEqual(shown.map((one) => expect.stringMatching(one)));
  expect(out).toContain('big\\u{1b}[2J');
  await letGo(holder, first, second);
  expect((await place.fate('show', 'gpu')).out).toBe('gpu: no holders, no waiters\n');
});

it('tells an election as one: who leads, who stands by', async ({ used: place }) => {
  const watch = place.start(['watch', 'scheduler']);
  await watch.says('no holders');
  const leader = place.start(['elect', 'scheduler', '--', 'cat']);
  await place.holding(1, 0);
  const standby = await place.wait('elect', 'scheduler', '-v', '--', 'cat');
  const { out } = await place.fate('show', 'scheduler');
  const [heading, , ...rows] = out.trimEnd().split('\n');
  expect(heading).toBe('scheduler: election, 1 of 1 leading, 1 standing by');
  expect(rows).toEqual([
    expect.stringMatching(new RegExp(`^leads +\\d+ +candidate .+ ${leader.pid} +cat `)),
    expect.stringMatching(new RegExp(`^stands by +\\d+ +candidate .+ ${standby.pid} +cat `)),
  ]);
  expect(await json(place, 'show', 'scheduler')).toMatchObject({
    ...{ election: true, limit: 1, holders: [{ pid: leader.pid, kind: 'permits' }] },
  });
  const [, listed] = (await place.fate('ls', '-l')).out.split('\n');
  expect(listed).toMatch(/^scheduler +1 of 1 +leader \S+ pid \d+ \(cat\) .* 1 on standby$/);
  await standby.saysOnError('for scheduler, led by ');
  await watch.says('stands by');
  await letGo(leader);
  await watch.says(`leads ${/stands by (\d+)/.exec(watch.out)![1]} candidate`);
  await letGo(standby);
  watch.kill('SIGINT');
  expect(await watch.fate).toMatchObject({ status: 0, err: '' });
});

it('a read-write lock has no limit', async ({ place }) => {
  const writer = await place.hold('config', '--write');
  expect(await json(place, 'show', 'config')).toMatchObject({
    ...{ limit: null, holders: [{ kind: 'write', permits: 1 }] },
  });
  await letGo(writer);
});

it('watch appends a line for each change, until it is interrupted', async ({ used: place }) => {
  const watch = place.start(['watch', 'a']);
  await watch.says('no holders');
  const holder = await place.hold('a');
  await watch.says('holds');
  const waiter = place.start(['run', 'a', '--', 'cat']);
  await watch.says('waits');
  await letGo(holder);
  await watch.says(`holds ${/waits (\d+)/.exec(watch.out)![1]}`);
  await letGo(waiter);
  await watch.says(`${waiter.pid} cat\n`);
  // More than two looks, in which nothing changes.
  await pause(1_200);
  watch.kill('SIGINT');
  const { status, out, err } = await watch.fate;
  expect([status, err]).toEqual([0, '']);
  const [before, ...lines] = out.trimEnd().split('\n');
  expect(before).toMatch(/Z a: no holders, no waiters$/);
  expect(lines.map((line) => `${line.split(/ +/)[1]} ${line.split(':').at(-1)}`)).toEqual([
    ...[`holds ${holder.pid} cat`, `waits ${waiter.pid} cat`, `left ${holder.pid} cat`],
    ...[`holds ${waiter.pid} cat`, `left ${waiter.pid} cat`],
  ]);
});

it('watch --json tells the whole queue at each change, until SIGTERM', async ({ used: place }) => {
  const watch = place.start(['watch', 'a', '--json']);
  await watch.says('"holders":[]');
  const holder = await place.hold('a');
  await watch.says(`"pid":${holder.pid}`);
  await letGo(holder);
  watch.kill('SIGTERM');
  const { status, out, err } = await watch.fate;
  expect([status, err]).toEqual([0, '']);
  const lines = out.trimEnd().split('\n');
  const [before, during] = lines.map((line) => JSON.parse(line) as QueueJson);
  expect([before?.holders.length, during?.holders.length]).toEqual([0, 1]);
});

it('watch goes on when another kept the store locked for a time', async ({ used: place }) => {
  const watch = place.start(['watch', 'a', '--store', `sqlite:${place.file}?busyTimeout=300ms`]);
  const first = await place.hold('a');
  await watch.says('holds');
  const database = new Database(place.file);
  database.exec('BEGIN EXCLUSIVE');
  await until(() => watch.err !== '');
  database.close();
  await letGo(first);
  await watch.says('left');
  watch.kill('SIGINT');
  const { status, err } = await watch.fate;
  expect([status, err]).toEqual([0, expect.stringMatching(/^holdfast: .+ was locked by .+\n$/)]);
});

it('ends quietly when nobody reads it any more', async ({ place }) => {
  const first = await place.hold('a');
  // `head` prints when it ends; then the shell, too, has closed what it read from.
  const reader = '{ head -n 1; exec <&-; echo gone; }';
  const watch = place.shell(`{ $holdfast watch a; echo status-$? >&2; } | ${reader}`);
  await watch.says('gone\n');
  expect(watch.out).toContain(`${first.pid} cat\n`);
  await letGo(first);
  expect(await watch.fate).toMatchObject({ status: 0, err: 'status-0\n' });
});

it('evict tells whether there was anybody', async ({ place }) => {
  const holder = await place.hold('a');
  const evict = ['evict', 'a', '--reason', 'a test'];
  expect(await place.fate(...evict, '--token', '12')).toEqual({
    ...{ status: 1, signal: null, out: '', err: 'holdfast: No claim on "a" has token 12.\n' },
  });
  expect(await json(place, ...evict, '--token', '12')).toEqual({
    ...{ resource: 'a', token: '12', evicted: false },
  });
  // Nobody reads it: `true` has ended by then.
  const unread = 'sleep 0.3; $holdfast evict a --reason test --token 12 --json; echo $? >&2';
  expect((await place.shell(`{ ${unread}; } | true`).fate).err).toBe('1\n');
  const token = await place.tokenOf('a');
  expect(await place.fate(...evict, '--token', token, '--now')).toMatchObject({
    ...{ status: 0, out: `Evicted from a: ${token}\n`, err: '' },
  });
  expect((await holder.fate).status).toBe(79);
});

it('explains itself', async ({ place }) => {
  const { out, status } = await place.fate('--help');
  expect(status).toBe(0);
  for (const verb of ['run', 'top', 'doctor', 'completion']) {
    expect(out).toMatch(new RegExp(`^  ${verb} `, 'm'));
    const help = await place.fate(verb, '--help');
    expect(help).toMatchObject({ status: 0, err: '' });
    expect(help.out).toMatch(new RegExp(`^Usage: holdfast ${verb}\\b`));
    expect(await place.fate('help', verb)).toEqual(help);
  }
  expect((await place.fate('help', 'help')).out).toBe(out);
  expect((await place.fate('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});
