/** The command line on MongoDB, which has no clock for locks: after a crash, cron goes on. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MongodbServer } from '../../servers/mongodb-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Place } from '../program.ts';

let server: MongodbServer;
beforeAll(async () => {
  server = await MongodbServer.start();
});
afterAll(() => server.close());

it('runs by a try, in a new process, when the holder before it was killed', async () => {
  const place = new Place();
  const store = server.url.replace('/?', '/test?');
  const flags = ['--ttl', `${paced(1_500)}ms`, '--store', store] as const;
  const script = 'echo > on; read end';
  const first = place.start(['run', 'nightly', ...flags, '--', 'sh', '-c', script], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  await until(() => place.read('on') !== '');
  const tried = ['run', 'nightly', '--try', ...flags, '--', 'echo', 'ran'];
  expect(await place.fate(...tried)).toMatchObject({ status: 75, out: '' });
  first.process.kill('SIGKILL');
  await first.fate;
  expect(await place.fate(...tried)).toMatchObject({ status: 0, out: 'ran\n', err: '' });
});
