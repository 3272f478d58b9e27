/** What the doctor makes of what a server says of itself. */
import { describe, expect, it } from 'vitest';
import {
  askServer,
  factFindings,
  jsonOf,
  linesOf,
  tryLock,
} from '../../../src/cli/verbs/doctor.ts';
import { clockOffset } from '../../../src/clients/facts/server-facts.ts';
import { setUp } from '../../jobs/bed.ts';

describe('the clock of a server', () => {
  const time = (aheadMs: number, withinMs = 1) =>
    factFindings({ version: 'X 1', clock: { aheadMs, withinMs } }).at(-1);

  it('agrees while nobody is misled, and else is to be set', () => {
    const says = "the server's clock is 0.4 s ahead of this machine's";
    expect(time(400)).toEqual({ about: 'time', ok: true, says, ms: 400, withinMs: 1 });
    expect(time(-90_000)).toEqual({
      about: 'time',
      ok: false,
      ms: -90_000,
      withinMs: 1,
      says: expect.stringMatching(/^the server's clock is 90 s behind .*; synchronise them/),
    });
    expect(time(90_000)).toMatchObject({ ok: false });
  });

  it('is not blamed for a slow reply', () => {
    expect(time(6_000, 3_000)).toMatchObject({ ok: true });
  });

  it('is compared with the middle of the question', async () => {
    const offset = await clockOffset(async () => {
      const asked = Date.now();
      while (Date.now() < asked + 20) await new Promise(setImmediate);
      return (asked + Date.now()) / 2 + 60_000;
    });
    const { aheadMs, withinMs } = offset ?? { aheadMs: 0, withinMs: 0 };
    expect(withinMs).toBeGreaterThanOrEqual(10);
    expect(Math.abs(aheadMs - 60_000)).toBeLessThanOrEqual(withinMs);
  });

  it('may have gone on for a step since the one that it tells, which is said', async () => {
    const clock = await clockOffset(async () => Date.now() - 1_000, 1_000);
    expect(clock?.withinMs).toBeGreaterThanOrEqual(500);
    expect(Math.abs((clock?.aheadMs ?? 0) + 500)).toBeLessThan(clock?.withinMs ?? 0);
    expect(time(-300, 500)?.says).toBe(
      "the server's clock is 0.3 s behind this machine's, give or take 0.5 s",
    );
  });

  it('is not told by every server', async () => {
    expect(await clockOffset(async () => undefined)).toBe(undefined);
  });
});

it('what a server complains of is to be looked at', () => {
  expect(factFindings({ version: 'etcd 3', hazards: ['etcd reports NOSPACE'] }).at(-1)).toEqual({
    about: 'hazard',
    ok: false,
    says: 'etcd reports NOSPACE',
  });
});

it.each([
  ['a store that only a module opens', 'module:./store.mjs', /^not asked: only the module/],
  ['a server that tells nothing', 'sqlite:/nowhere/locks.db', /^tells nothing: ./],
])('%s has a line all the same', async (_, url, says) => {
  const line = { about: 'server', ok: true, says: expect.stringMatching(says) };
  expect(await askServer(url)).toEqual([line]);
});

it('a lock that another doctor has may be asked for', async () => {
  const { clock, locks, other } = setUp();
  await other.mutex('holdfast-doctor').acquire();
  const found = tryLock(locks);
  await clock.advance(2_000);
  expect(await found).toEqual({
    about: 'permissions',
    ok: true,
    says: 'a lock may be asked for; another doctor has it',
  });
});

it('a server gives no orders to a terminal, and programs get figures to a tenth', () => {
  const clock = { aheadMs: 1.26, withinMs: 0.54 };
  const found = factFindings({ version: 'X\u001b[2J\n1', clock });
  expect(linesOf(found)[0]).toBe('ok  server  X\\u{1b}[2J\\u{a}1');
  expect(jsonOf(0, found)).toMatchObject({ ok: true, findings: [{}, { ms: 1.3, withinMs: 0.5 }] });
});
