/** The demo of the package, with real processes. */
import { readdirSync } from 'node:fs';
import { expect } from 'vitest';
import { it, Place } from './program.ts';

it('shows a lock that moves on and a late write that is refused, and leaves nothing', async () => {
  const place = new Place();
  const env = { ...place.env, TMPDIR: place.folder };
  const fate = await place.start(['demo'], { env, stdio: ['ignore', 'pipe', 'pipe'] }).fate;
  expect(fate).toMatchObject({ status: 0, err: '' });
  const tokens = [...fate.out.matchAll(/token (\d+)/g)].map(([, token = '']) => BigInt(token));
  expect(tokens[1]).toBeGreaterThan(tokens[0] as bigint);
  expect(fate.out).toMatch(
    /B {2}sells the lamp\.\nA {2}goes on\. Its lease is lost, .*\n.*refuses/,
  );
  expect(fate.out).toMatch(/is killed while it holds the lock\. C gets it \d/);
  expect(readdirSync(place.folder)).toEqual([]);
});

it('leaves nothing when it is ended while a process of it stands still', async ({ place }) => {
  const env = { ...place.env, TMPDIR: place.folder };
  const demo = place.start(['demo'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  await demo.says('is stopped');
  demo.kill('SIGTERM');
  // It resolves when no process of the demo has the standard error any more.
  expect(await demo.fate).toMatchObject({ status: 143, err: '' });
  expect(readdirSync(place.folder)).toEqual([]);
});

it('leaves nothing when its reader goes', async ({ place }) => {
  const env = { TMPDIR: place.folder };
  const demo = place.shell('$holdfast demo | head -n 1', { env });
  expect(await demo.fate).toMatchObject({ out: expect.stringMatching(/^One .*\n$/), err: '' });
  expect(readdirSync(place.folder)).toEqual([]);
});
