/** The command line on Redis; the rest of it is the same on every store. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RedisServer } from '../../servers/redis-server.ts';
import { examined } from '../examined.ts';
import { Place } from '../program.ts';
import { comparable, SHOWN } from '../runbook.ts';
import { mistakes, runsAndShows, SECRET } from './every-server.ts';

let server: RedisServer;
/** Nobody has told it that its emptiness is no loss. */
let fresh: RedisServer;
/** For longer than these tests take, nothing is granted there. */
const freshUrl = (): string => `${fresh.url}?maxTtl=30s`;
beforeAll(async () => {
  [server, fresh] = await Promise.all([RedisServer.start(), RedisServer.start()]);
});
afterAll(() => Promise.all([server.close(), fresh.close()]));

it('runs a command under a lock, and shows it', () =>
  runsAndShows(`${server.url}?afterDataLoss=trust`));

it('is looked at by the doctor, who says what to do', async () => {
  const trusting = `${server.url}?afterDataLoss=trust`;
  const { store, server: told } = await examined(trusting);
  expect([store?.says, told?.says]).toEqual([
    expect.stringMatching(/^redis, reached in/),
    expect.stringMatching(/^Redis \d+\.\d+/),
  ]);
  const { status, out } = await new Place().fate('doctor', '--store', freshUrl());
  expect(status).toBe(1);
  expect(out).toMatch(/^LOOK +memory .* for another [\d.]+ s;/m);
  expect(comparable(out)).toBe(SHOWN.get('doctor'));
});

it('says that the store grants nothing after a loss of data, and for how long', async () => {
  const place = new Place();
  const told = /; the store is new or has lost its data, .* for another [\d.]+ s\.\n$/;
  const nightly = ['run', 'nightly', '--store', freshUrl()];
  const tried = await place.fate(...nightly, '--try', '-E', '0', '--', 'true');
  expect([tried.status, tried.err]).toEqual([0, expect.stringMatching(told)]);
  const waits = /^holdfast: waiting \d\.\d s for nightly: the store is new or .*\n.*/;
  const both = expect.stringMatching(new RegExp(waits.source + told.source));
  const waited = await place.fate(...nightly, '--wait', '2s', '--', 'true');
  expect([waited.status, waited.err]).toEqual([75, both]);
  const asJson = await place.fate(...nightly, '--wait', '2s', '--json', '--', 'true');
  // The line about the wait is not for programs.
  expect(JSON.parse(asJson.err)).toEqual({
    error: {
      status: 75,
      code: 'ACQUIRE_TIMEOUT',
      message: expect.stringContaining('; the store is new or has lost its data, and grants'),
    },
  });
  const once = ['once', 'nightly', '--keep', '1d', '--store', freshUrl()];
  const skipped = await place.fate(...once, '--try', '-E', '0', '--', 'true');
  expect([skipped.status, skipped.err]).toEqual([0, expect.stringMatching(told)]);
  const line = await place.fate(...nightly, '--wait', '2s', '-v', '--', 'true');
  expect(line.err).toMatch(
    /^holdfast: waiting \d\.\d s for nightly: the store is new or has lost its data, and/,
  );
});

mistakes('redis', { server: () => server, verbs: ['run a --wait 1s'] }, [
  ['the password is wrong', `redis://me:${SECRET}@HERE`, 69, /WRONGPASS/],
  ['the URL has a mistake', `redis://me:${SECRET}@HERE/x/y`, 78, /malformed/],
  ['an option is unknown', 'redis://HERE?maxTTL=1m', 78, /maxTTL.*maxTtl/],
]);
