/** The situations of the runbook, each brought about, and what the commands print then. */
import { expect } from 'vitest';
import { it, letGo, Place, type Program } from './program.ts';
import { comparable, SHOWN } from './runbook.ts';

/** The commands of this file; that on a store without memory is in servers/redis.test.ts. */
const SHOWN_HERE = ['import', 'account:1', 'account:2', 'gpu', 'scheduler'];
const HERE = ['top', ...SHOWN_HERE.map((name) => `show ${name}`)];

/** It waits, and then holds until its input ends. */
function wait(place: Place, name: string, label: string, ...flags: string[]): Promise<Program> {
  return place.wait('run', name, '--label', label, ...flags, '--', 'cat');
}

async function expectShown(place: Place, command: string): Promise<void> {
  const { out, err } = await place.fate(...command.split(' '));
  expect(err).toBe('');
  expect(comparable(out)).toBe(SHOWN.get(command));
}

it('what waits, and a holder that hangs', async ({ place }) => {
  const holder = await place.hold('import', '--label', 'import.sh');
  const others = [
    await wait(place, 'import', 'import.sh'),
    await wait(place, 'import', 'import.sh'),
    await place.hold('report', '--label', 'report.sh'),
    await wait(place, 'report', 'report.sh'),
  ];
  await expectShown(place, 'show import');
  const top = place.start(['top']);
  await top.says('report');
  top.kill('SIGINT');
  const [first = ''] = (await top.fate).out.split(/\n(?=\d{4}-)/);
  expect(comparable(first)).toBe(SHOWN.get('top'));

  const token = await place.tokenOf('import');
  const [command = ''] = [...SHOWN.keys()].filter((each) => each.startsWith('evict import'));
  const [words = '', reason = ''] = command.split(" --reason '");
  const evict = [...words.replace(/\d{16,}/, token).split(' '), '--reason', reason.slice(0, -1)];
  const evicted = await place.fate(...evict);
  expect(comparable(evicted.out)).toBe(SHOWN.get(command));
  expect(await holder.fate).toMatchObject({ status: 79, err: expect.stringMatching(/it hangs/) });
  await letGo(...others);
});

it('a dead holder: the next one gets the lock by itself', async ({ place }) => {
  const dead = await place.hold('import', '--ttl', '3s');
  const next = await place.wait('run', 'import', '--', 'echo', 'in');
  dead.kill('SIGKILL');
  await next.says('in');
  expect(await next.fate).toMatchObject({ status: 0 });
});

it('programs that wait for each other', async ({ place }) => {
  const nested = (from: string, to: string, label: string): Program => {
    const inner = `read _; exec $holdfast run ${to} --label ${label} -- true`;
    return place.start(['run', from, '--label', label, '--', 'sh', '-c', inner]);
  };
  const a = nested('account:1', 'account:2', 'transfer-a');
  const b = nested('account:2', 'account:1', 'transfer-b');
  await place.holding(2, 0);
  for (const each of [a, b]) each.type('go\n');
  await place.holding(2, 2);
  await expectShown(place, 'show account:1');
  await expectShown(place, 'show account:2');
  for (const each of [a, b]) each.kill('SIGTERM');
  await Promise.all([a.fate, b.fate]);
});

it('programs that disagree about a limit', async ({ place }) => {
  const programs = [
    await place.hold('gpu', '--label', 'train-v1', '--limit', '2'),
    await place.hold('gpu', '--label', 'train-v2', '--limit', '4'),
    await wait(place, 'gpu', 'train-v2', '--limit', '4'),
  ];
  await expectShown(place, 'show gpu');
  await letGo(...programs);
});

it('an election', async ({ place }) => {
  const elect = ['elect', 'scheduler', '--label', 'scheduler', '--', 'cat'];
  const leader = place.start(elect);
  await place.holding(1, 0);
  const standby = await place.wait(...elect);
  await expectShown(place, 'show scheduler');
  await letGo(leader, standby);
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
