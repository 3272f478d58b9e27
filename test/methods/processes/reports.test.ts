/** Two processes that report to the dashboard of a third, on one file. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocks, evict } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { dashboard } from 'holdfast/dashboard';
import { expect, onTestFinished, test } from 'vitest';
import { BEARER, Page, soon, TOKEN } from '../../dashboard/bed.ts';
import { Child, databaseFile } from './child.ts';
import type { SellerOptions, Sold } from './children/seller.ts';

const REPORTS = 'a-token-of-the-tills';

test('one timeline has what both did, once, though one is killed', async () => {
  const store = `sqlite:${databaseFile()}`;
  const locks = createLocks(await openStore(store));
  const shown = dashboard(locks, { auth: TOKEN, reports: REPORTS, every: 100 });
  const server = createServer(shown).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    shown.close();
    server.close();
    server.closeAllConnections();
    await locks.close({ drain: 0 });
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const page = new Page(url, BEARER);
  await soon(() => page.isLoaded).toBe(true);
  const start = (label: string): Child => {
    const options: SellerOptions = { store, label, report: { url, token: REPORTS } };
    return new Child('seller', options);
  };
  /** What the timeline says of this process, and of this token. */
  const told = ({ pid }: Child, token: string, from: 'locks' | 'store') =>
    page.lines
      .filter((line) => line.who?.endsWith(` ${pid}`) && line.token === token)
      .filter((line) => line.what !== 'waits' && line.from === from)
      .map(({ what, detail }) => (detail ? `${what}, ${detail}` : what));

  const first = start('first');
  const { token: killed } = await first.next<Sold>('held');
  await soon(() => told(first, killed, 'locks')).toHaveLength(1);
  const second = start('second');
  await soon(() => page.told).toContain('stock waits');
  first.kill('SIGKILL');
  const before = page.lines.length;
  const { token } = await second.next<Sold>('held');
  await soon(() => told(second, token, 'locks')).toHaveLength(1);
  // The one that was killed said no more, so the store tells: by itself, or of the one after it.
  const end = ({ what, who, detail }: (typeof page.lines)[number]): boolean =>
    (what === 'gone' && who?.startsWith('first · ')) || detail?.includes('after first · ') === true;
  await soon(() => page.lines.filter(end)).toHaveLength(1);
  const takeover = page.lines.slice(before).filter(({ detail }) => detail?.includes('expired'));
  expect(takeover.map(({ who, from }) => [who?.slice(0, 6), from])).toEqual([['second', 'locks']]);

  await evict(locks, 'stock', { token: BigInt(token), reason: 'it <b>hangs</b>', now: true });
  await second.next<Sold>('lost');
  await soon(() => told(second, token, 'locks').at(-1)).toBe('lost, evicted: it <b>hangs</b>');
  second.tell({});
  await second.exited();
  // What looks saw first has been replaced.
  await soon(() => page.rows.size).toBe(0);
  expect(told(second, token, 'store')).toEqual([]);
  const grants = page.lines.filter(({ what }) => what === 'granted' || what === 'handed on');
  expect(new Set(grants.map((line) => line.token)).size).toBe(grants.length);
  expect(grants.every(({ from }) => from === 'locks')).toBe(true);
  expect(grants).toHaveLength(6);
});
