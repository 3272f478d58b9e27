/** A deadlock that programs have found, as the command line tells it. */
import { createLocks, detectDeadlocks, holding } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { expect, onTestFinished } from 'vitest';
import { until } from '../support/until.ts';
import { it } from './program.ts';

it('is told by show of its names, and by a command that waits behind it', async ({ place }) => {
  const locks = createLocks(await openStore(`sqlite:${place.file}`), { label: 'bank' });
  onTestFinished(() => locks.close({ drain: 0 }));
  detectDeadlocks(locks, { after: 100 });
  let told = 0;
  locks.on('deadlock', () => told++);
  const ends = new AbortController();
  const held = await Promise.all(['a', 'b'].map((name) => locks.mutex(name).acquire()));
  const works = held.map(async (lease, i) => {
    await using own = lease;
    const other = locks.mutex(i === 0 ? 'b' : 'a');
    await holding([own], () => other.run({ signal: ends.signal }, () => {}));
  });
  await until(() => told === 2);

  const { out } = await place.fate('show', 'a');
  const [heading, ...lines] = out.slice(out.indexOf('deadlock:')).trimEnd().split('\n');
  expect(heading).toBe('deadlock:');
  const who = `pid ${process.pid} \\(bank\\)`;
  expect(lines.sort()).toEqual([
    expect.stringMatching(new RegExp(`^  \\S+ ${who} holds "a" and waits for "b"$`)),
    expect.stringMatching(new RegExp(`^  \\S+ ${who} holds "b" and waits for "a"$`)),
  ]);
  const json = JSON.parse((await place.fate('show', 'b', '--json')).out);
  expect(json.deadlock).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        ...{ pid: process.pid, label: 'bank', waits: 'b' },
        holds: [{ resource: 'a', token: expect.stringMatching(/^\d+$/) }],
      }),
    ]),
  );
  expect((await place.fate('show', 'c')).out).toBe('c: no holders, no waiters\n');
  const waits = place.start(['run', 'a', '-v', '--', 'true']);
  await waits.saysOnError('a deadlock over "');

  ends.abort();
  await Promise.allSettled(works);
  expect(await waits.fate).toMatchObject({ status: 0 });
  expect((await place.fate('show', 'a')).out).toBe('a: no holders, no waiters\n');
});
