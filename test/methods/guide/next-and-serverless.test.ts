/** The functions of the guide "Next.js and serverless functions", called as platforms do. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { maxDuration, POST, startReport } from './serverless.ts';
import { allDone, built, clock, locks, others, sent, store, work } from './serverless-world.ts';
import { expectShown } from './shown.ts';

const invoice = (id: string): Request =>
  new Request('http://shop/invoices', { method: 'POST', body: JSON.stringify({ id }) });

const lockOf = (id: string) => others.mutex(`invoice:${id}`, { heartbeat: false, ttl: '75s' });

beforeEach(() => {
  work.ms = 30_000;
  sent.length = 0;
  built.length = 0;
});

afterAll(() => clock.stop());

test('an invoice is sent by one of two requests', async () => {
  const [one, two] = await Promise.all([POST(invoice('a')), POST(invoice('a'))]);
  expect([one.status, two.status]).toEqual([200, 409]);
  expect(two.headers.get('retry-after')).toBe('10');
  expect(sent).toEqual(['pdf of a, fenced']);
  expect((await POST(invoice('a'))).status).toBe(200);
});

test('a function that stood still for too long sends nothing, and another goes on', async () => {
  work.ms = 80_000;
  const frozen = POST(invoice('b')).catch((error: unknown) => error);
  await clock.sleep('76s');
  const other = await lockOf('b').tryRun(() => 'taken over');
  expect(other).toMatchObject({ acquired: true, value: 'taken over' });
  expect(await frozen).toMatchObject({ code: 'LEASE_LOST' });
  expect(sent).toEqual([]);
});

test('as long as a function may run nobody else comes in, and nothing is renewed', async () => {
  work.ms = maxDuration * 1000;
  const running = POST(invoice('c'));
  await clock.sleep(work.ms - 1);
  expect(await lockOf('c').tryAcquire()).toBe(null);
  expect((await running).status).toBe(200);
});

test('work behind the response has the lock until it is done', async () => {
  const first = await startReport();
  expect(first.status).toBe(202);
  expect((await startReport()).status).toBe(409);
  await allDone();
  expect(built).toEqual(['report']);
  expect((await startReport()).status).toBe(202);
  await allDone();
});

test('the guide shows what is tested here', async () => {
  expectShown('next-and-serverless.md', new URL('serverless.ts', import.meta.url));
  expect(store.name).toBe('memory');
  await Promise.all([locks.close(), others.close()]);
});
