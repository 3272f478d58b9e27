/** The command line on PostgreSQL; the rest of it is the same on every store. */
import { afterAll, expect } from 'vitest';
import { startPostgres } from '../../servers/postgres-server.ts';
import { it, Place } from '../program.ts';
import { mistakes, runsAndShows, SECRET } from './every-server.ts';

const server = await startPostgres();
afterAll(() => server.close());

it('migrates, runs a command under a lock, and shows it', async ({ place }) => {
  const refused = await place.fate('run', 'a', '--store', server.url, '--', 'true');
  expect(refused).toMatchObject({ status: 69, err: expect.stringMatching(/holdfast migrate/) });
  const ill = await place.fate('doctor', '--store', server.url);
  expect(ill).toMatchObject({ status: 69, out: expect.stringMatching(/^LOOK .*holdfast migrate/) });
  const done = 'The tables of the locks are up to date.\n';
  const migrated = await place.fate('migrate', '--store', server.url);
  expect(migrated).toMatchObject({ status: 0, out: done, err: '' });
  const again = await place.fate('migrate', '--store', server.url, '--json');
  expect(again).toMatchObject({ status: 0, out: '{"migrated":true}\n', err: '' });
  const well = await place.fate('doctor', '--store', server.url);
  expect(well.out).toMatch(/^ok +permissions +a lock was taken/m);
  expect(well.out).toMatch(/^ok +server +PostgreSQL \d+/m);
  expect(well.out).toMatch(/^ok +tables +up to date, in the schema holdfast, layout \d+$/m);
  expect(well.out).toMatch(/^ok +time +the server's clock is \d\.\d s/m);
  await runsAndShows(server.url);
});

it('prints what it would do, without asking anybody', async () => {
  const store = 'postgres://no-such-host.invalid/x?schema=mine';
  const { status, out, err } = await new Place().fate('migrate', '--store', store, '--print');
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toMatch(/^BEGIN;\n/);
  await server.query('CREATE DATABASE printed');
  await server.query(out, [], { database: 'printed' });
  const url = `${server.urlOf({ database: 'printed' })}?schema=mine`;
  const ran = await new Place().fate('run', 'a', '--store', url, '--', 'true');
  expect(ran).toMatchObject({ status: 0, err: '' });
});

it('makes the table of a fence where the data is, and none of the locks', async () => {
  const database = 'shop';
  await server.query(`CREATE DATABASE ${database}`);
  const store = server.urlOf({ database });
  // Twice, as in each deployment; also by the URL of locks in a table.
  for (const url of [store, store, `table+${store}`]) {
    expect(await new Place().fate('migrate', '--fence', '--store', url)).toMatchObject({
      ...{ status: 0, out: 'The tables of the fence are up to date.\n', err: '' },
    });
  }
  const ours = `SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`;
  expect(await server.query(ours, [], { database })).toEqual([{ name: 'holdfast_fence' }]);
});

const verbs = ['run a --wait 1s', 'migrate', 'migrate --fence'];
mistakes('postgres', { server: () => server, verbs }, [
  ['the user is unknown', `postgres://me:${SECRET}@HERE/postgres`, 69, /does not let this user/],
  ['the URL has a mistake', `postgres://me:${SECRET}#@HERE`, 78, /malformed/],
  ['an option is wrong', `postgres://me:${SECRET}@HERE/x?schema=a-b`, 78, /schema must be/],
]);
