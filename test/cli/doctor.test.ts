/** What `holdfast doctor` finds in a file. */
import { expect } from 'vitest';
import { it } from './program.ts';

it('finds nothing to do in a file in use, and leaves no lock', async ({ used: place }) => {
  const { status, out, err } = await place.fate('doctor');
  expect({ status, err }).toEqual({ status: 0, err: '' });
  const lines = out.trim().split('\n');
  expect(lines.map((line) => line.split(/\s+/).slice(0, 2).join(' '))).toEqual(
    ['store', 'latency', 'memory', 'permissions', 'clock', 'server'].map((about) => `ok ${about}`),
  );
  expect(out).toMatch(/sqlite, reached in \d+\.\d ms/);
  expect(out).toMatch(/a lock was taken and released in/);
  expect(out).toMatch(/^ok {2}server +SQLite 3\.\d+/m);
  expect(await place.counts()).toEqual({ holders: 0, waiters: 0 });
});

it('says what is wrong with a file that is none, or not there', async ({ place }) => {
  const missing = await place.fate('doctor');
  expect(missing.status).toBe(69);
  expect(missing.out).toMatch(/^LOOK {2}store {2}There is no file/);
  place.write('locks.db', 'This is a letter, and no database, however long it is. '.repeat(100));
  const { status, out } = await place.fate('doctor', '--json');
  const { ok, findings } = JSON.parse(out);
  expect(status).not.toBe(0);
  expect(ok).toBe(false);
  expect(findings).toEqual([
    { about: 'store', ok: false, says: expect.stringMatching(/database/), code: 'STORE' },
  ]);
});
