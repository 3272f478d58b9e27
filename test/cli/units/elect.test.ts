/** What candidates of the shell do, each in a process of its own. */
import { createLocks } from 'holdfast';
import { createElection } from 'holdfast/election';
import { sqliteStore } from 'holdfast/sqlite';
import { expect, onTestFinished } from 'vitest';
import { alive } from '../../servers/process-table.ts';
import { programOf } from '../../support/program-of.ts';
import { until } from '../../support/until.ts';
import { it, Place } from '../program.ts';

/** Says that it leads, and leads until the test says so. */
const LEAD = 'echo "leads $$"; until [ -e go ] || [ ! -e "$PWD" ]; do sleep 0.02; done';

const LOST = /^holdfast: Lease lost on "boss": .* Ending the command\.$/;

const elect = (...flags: string[]) => ['elect', 'boss', ...flags, '--', 'sh', '-c', LEAD];

it('one leads, the others stand by and take over in their order', async ({ place }) => {
  const first = place.start(elect());
  await first.says('leads');
  const second = await place.wait(...elect());
  // A candidate of another program is in the same queue.
  const locks = createLocks(sqliteStore(place.file));
  onTestFinished(() => locks.close({ drain: 0 }));
  const candidate = createElection(locks, 'boss').campaign();
  await place.holding(1, 2);
  first.kill('SIGTERM');
  expect(await first.fate).toMatchObject({ status: 143, err: '' });
  await second.says('leads');
  expect(candidate.state).toBe('standby');
  place.write('go');
  expect(await second.fate).toMatchObject({ status: 0, err: '' });
  await until(() => candidate.state === 'leader');
});

it('seats many lead at a time', async ({ place }) => {
  const candidates = Array.from({ length: 3 }, () => place.start(elect('--seats', '2')));
  await place.holding(2, 1);
  place.write('go');
  const fates = await Promise.all(candidates.map(({ fate }) => fate));
  expect(fates.map(({ status }) => status)).toEqual([0, 0, 0]);
});

it('a lost seat ends the command, and its candidate stands again, last', async ({ place }) => {
  const first = place.start(elect());
  await first.says('leads');
  const second = await place.wait(...elect());
  await place.evict('boss', '--now');
  await second.says('leads');
  const over = first.fate.then(() => Promise.reject(new Error('It does not stand again.')));
  await Promise.race([place.holding(1, 1), over]);
  over.catch(() => {});
  expect(alive(Number(/leads (\d+)/.exec(first.out)?.[1]))).toBe(false);
  await first.saysOnError('Ending the command.\n');
  // Of what a machine without a free inotify instance warns of, and Node's line about it.
  const lines = first.err.split('\n').filter((line) => !/HOLDFAST_SQLITE_WAKE|^\(Use/.test(line));
  expect(lines).toEqual([expect.stringMatching(LOST), '']);
  second.kill('SIGTERM');
  expect((await second.fate).status).toBe(143);
  await until(() => first.out.split('leads').length === 3);
  place.write('go');
  expect((await first.fate).status).toBe(0);
});

it('a signal to end leaves the queue, and after it a leader has no second term', async () => {
  const place = new Place();
  // It does not end when it is asked to.
  const deaf = ['sh', '-c', 'trap "" TERM; echo leads; while [ -e "$PWD" ]; do sleep 0.02; done'];
  const leader = place.start(['elect', 'boss', '--grace', '100ms', '--', ...deaf]);
  await leader.says('leads');
  const standby = await place.wait(...elect());
  standby.kill('SIGTERM');
  expect(await standby.fate).toEqual({ status: 143, signal: null, out: '', err: '' });
  expect(await place.counts()).toEqual({ holders: 1, waiters: 0 });
  leader.kill('SIGTERM');
  await place.evict('boss', '--now');
  expect((await leader.fate).status).toBe(79);
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
});

it('fails at once where the name is another lock, or the store cannot be used', async () => {
  const place = new Place();
  await place.hold('boss');
  const other = place.fate('elect', 'boss', '--', 'true');
  const broken = place.fate('elect', 'a', '--store', 'sqlite:.', '--', 'true');
  expect([(await other).status, (await broken).status]).toEqual([77, 69]);
});

it.each([
  [['elect', 'boss', '--', 'true'], 143],
  [['dashboard', '--insecure', '--port', '0'], 0],
] as const)('a signal ends the wait for a store that is silent: %s', async (words, status) => {
  const place = new Place();
  const store = `module:${programOf('test/cli/children/silent-store.ts').file}?${place.file}`;
  const [verb, ...others] = words;
  const fate = await place.fate(verb, '--store', store, ...others);
  expect(fate).toEqual({ status, signal: null, out: '', err: '' });
});
