/** How a store in a database has it swept. */
import { expect, test } from 'vitest';
import type { SqlLink } from '../../../src/stores/sql/link.ts';
import { Sweeper } from '../../../src/stores/sql/sweeper.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MINUTE_MS = 60_000;

/** A database in which so many portions are left, each of which takes a second. */
function scene(portions: number) {
  const clock = new FakeClock();
  const asked: string[] = [];
  let left = portions;
  const sweep = (where: string) => (): Promise<readonly string[]> =>
    new Promise((resolve) => {
      asked.push(where);
      clock.setTimeout(() => resolve(--left > 0 ? ['on'] : []), 1000);
    });
  const link = {
    call: sweep('claims'),
    aside: () => ({ call: sweep('aside'), close: () => void asked.push('closed') }),
  } as Partial<SqlLink> as SqlLink;
  return { clock, asked, sweeper: new Sweeper(clock, link) };
}

test('what is more than a portion is swept aside, at once, with a rest after each', async () => {
  const { clock, asked, sweeper } = scene(4);
  sweeper.due();
  expect(asked).toEqual([]);
  await clock.advance(MINUTE_MS);
  sweeper.due();
  sweeper.due();
  await clock.advance(1000);
  expect(asked).toEqual(['claims', 'aside']);
  await clock.advance(3999);
  expect(asked).toEqual(['claims', 'aside']);
  await clock.advance(1);
  expect(asked).toEqual(['claims', 'aside', 'aside']);
  sweeper.due();
  await clock.advance(5000);
  expect(asked).toEqual(['claims', 'aside', 'aside', 'aside', 'closed']);
});

test('what is one portion is swept on the way, once a minute', async () => {
  const { clock, asked, sweeper } = scene(1);
  await clock.advance(MINUTE_MS);
  sweeper.due();
  await clock.advance(1000);
  sweeper.due();
  expect(asked).toEqual(['claims']);
  await clock.advance(MINUTE_MS);
  sweeper.due();
  expect(asked).toEqual(['claims', 'claims']);
});
