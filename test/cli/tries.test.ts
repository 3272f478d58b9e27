/** A try where no clock tells how old a holder's last sign of life is; TTLs that stores allow. */
import { expect } from 'vitest';
import { programOf } from '../support/program-of.ts';
import { paced } from '../support/this-run.ts';
import { until } from '../support/until.ts';
import { it, letGo, Place } from './program.ts';

const TTL = ['--ttl', `${paced(1_500)}ms`] as const;

function storeOf(child: string, path: string): readonly string[] {
  return ['--store', `module:${programOf(`test/cli/children/${child}`).file}?${path}`];
}

const VERBS = [
  ['run', 'a'],
  ['once', 'a', '--keep', '7d'],
] as const;

for (const verb of VERBS) {
  /** One that holds until its input ends, and a try of a new process, as cron starts it. */
  const meet = async () => {
    const place = new Place();
    const given = [...TTL, ...storeOf('folder-store.ts', place.path('documents')), '--'];
    const first = place.start([...verb, ...given, 'sh', '-c', 'echo > on; cat']);
    await until(() => place.read('on') !== '');
    return { first, tries: () => place.fate(...verb, '--try', ...given, 'echo', 'ran') };
  };

  it(`${verb[0]} --try runs once the holder that it meets must be dead`, async () => {
    const { first, tries } = await meet();
    first.kill('SIGKILL');
    await first.fate;
    // None is there when the holder dies.
    expect(await tries()).toEqual({ status: 0, signal: null, out: 'ran\n', err: '' });
  });

  it(`${verb[0]} --try is refused by a holder that shows that it lives`, async () => {
    const { first, tries } = await meet();
    const fate = await tries();
    expect(fate).toMatchObject({ status: 75, out: '' });
    expect(fate.err).toMatch(/held|being done/);
    await letGo(first);
  });
}

it('takes the TTL that the store allows, and leaves longer ones to it', async ({ place }) => {
  const store = storeOf('short-store.ts', place.file);
  const ran = { status: 0, out: 'ran\n', err: '' };
  expect(await place.fate('run', 'a', ...store, '--', 'echo', 'ran')).toMatchObject(ran);
  const long = ['--ttl', '45s', '--', 'echo', 'ran'];
  expect(await place.fate('run', 'b', ...long)).toMatchObject(ran);
  expect(await place.fate('run', 'b', '--min-hold', '40s', ...long)).toMatchObject(ran);
  const refused = await place.fate('run', 'b', ...store, ...long);
  expect(refused).toMatchObject({ status: 64, out: '' });
  expect(refused.err).toMatch(/ttl is 45000 ms, more than maxTtl, 5000 ms: raise the option/);
});
