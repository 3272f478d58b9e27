/** The situations of the runbook, each brought about, and what the commands print then. */
import { expect, it } from 'vitest';
import { Place, type Program } from './program.ts';
import { comparable, SHOWN } from './runbook.ts';

/** The commands of this file; that on a store without memory is in servers/redis.test.ts. */
const HERE = ['top', 'show import', 'show account:1', 'show account:2', 'show gpu'];

interface Run {
  readonly label: string;
  readonly flags?: readonly string[];
  readonly command?: readonly string[];
}

/** It holds, or waits, until its input ends. */
function run(place: Place, name: string, { label, flags = [], command = ['cat'] }: Run): Program {
  return place.start(['run', name, '--label', label, ...flags, '--', ...command]);
}

async function expectShown(place: Place, command: string): Promise<void> {
  const { out, err } = await place.fate(...command.split(' '));
  expect(err).toBe('');
  expect(comparable(out)).toBe(SHOWN.get(command));
}

const endAll = async (programs: readonly Program[]): Promise<void> => {
  for (const { process } of programs) process.stdin?.end();
  await Promise.all(programs.map(({ fate }) => fate));
};

it('what waits, and a holder that hangs', async () => {
  const place = new Place();
  const holder = run(place, 'import', { label: 'import.sh' });
  await place.holding(1, 0);
  const others = [run(place, 'import', { label: 'import.sh' })];
  await place.holding(1, 1);
  others.push(run(place, 'import', { label: 'import.sh' }));
  await place.holding(1, 2);
  others.push(run(place, 'report', { label: 'report.sh' }));
  await place.holding(2, 2);
  others.push(run(place, 'report', { label: 'report.sh' }));
  await place.holding(2, 3);
  await expectShown(place, 'show import');
  const top = place.start(['top']);
  await top.says('report');
  top.kill('SIGINT');
  const [first = ''] = (await top.fate).out.split(/\n(?=\d{4}-)/);
  expect(comparable(first)).toBe(SHOWN.get('top'));

  const { out } = await place.fate('show', 'import', '--json');
  const [{ token }] = JSON.parse(out).holders;
  const [command = ''] = [...SHOWN.keys()].filter((each) => each.startsWith('evict import'));
  const [words = '', reason = ''] = command.split(" --reason '");
  const evict = [...words.replace(/\d{16,}/, token).split(' '), '--reason', reason.slice(0, -1)];
  const evicted = await place.fate(...evict);
  expect(comparable(evicted.out)).toBe(SHOWN.get(command));
  expect(await holder.fate).toMatchObject({ status: 79, err: expect.stringMatching(/it hangs/) });
  await endAll(others);
});

it('a dead holder: the next one gets the lock by itself', async () => {
  const place = new Place();
  const dead = run(place, 'import', { label: 'import.sh', flags: ['--ttl', '3s'] });
  await place.holding(1, 0);
  const next = place.start(['run', 'import', '--', 'echo', 'in']);
  await place.holding(1, 1);
  dead.kill('SIGKILL');
  await next.says('in');
  expect(await next.fate).toMatchObject({ status: 0 });
});

it('programs that wait for each other', async () => {
  const place = new Place();
  const nested = (name: string, label: string): string[] => {
    return ['sh', '-c', `read _; exec $holdfast run ${name} --label ${label} -- true`];
  };
  const a = run(place, 'account:1', {
    label: 'transfer-a',
    command: nested('account:2', 'transfer-a'),
  });
  const b = run(place, 'account:2', {
    label: 'transfer-b',
    command: nested('account:1', 'transfer-b'),
  });
  await place.holding(2, 0);
  for (const each of [a, b]) each.type('go\n');
  await place.holding(2, 2);
  await expectShown(place, 'show account:1');
  await expectShown(place, 'show account:2');
  for (const each of [a, b]) each.kill('SIGTERM');
  await Promise.all([a.fate, b.fate]);
});

it('programs that disagree about a limit', async () => {
  const place = new Place();
  const programs: Program[] = [];
  for (const [label, limit] of [
    ['train-v1', '2'],
    ['train-v2', '4'],
    ['train-v2', '4'],
  ] as const) {
    programs.push(run(place, 'gpu', { label, flags: ['--limit', limit] }));
    await place.holding(Math.min(programs.length, 2), Math.max(programs.length - 2, 0));
  }
  await expectShown(place, 'show gpu');
  await endAll(programs);
});

it('a store that is away', async () => {
  const command = 'doctor --store redis://10.0.0.7';
  const { status, out } = await new Place().fate('doctor', '--store', 'redis://127.0.0.1:1');
  expect(status).toBe(69);
  expect(comparable(out)).toBe(SHOWN.get(command));
});

it('no command of the page is left out', () => {
  const elsewhere = ['doctor'];
  const other = [...SHOWN.keys()].filter((command) => /^evict |--store/.test(command));
  expect(other).toHaveLength(2);
  expect([...SHOWN.keys()].sort()).toEqual([...HERE, ...elsewhere, ...other].sort());
});
