/**
 * `npm run screenshots`: the pictures of the dashboard in docs/images, taken in a real browser of
 * real claims, whose hosts and ages are made up.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLocks } from 'holdfast';
import { dashboard } from 'holdfast/dashboard';
import { memoryStore } from 'holdfast/memory';
import type { Claim, Kind, Store } from 'holdfast/store';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../test/servers/browser.ts';

const IMAGES = fileURLToPath(new URL('../docs/images/', import.meta.url));
const TOKEN = 'of the pictures, for an hour';

interface Queue {
  readonly name: string;
  readonly kind?: Kind;
  readonly limit?: number;
  readonly mark?: string;
  /** `label@host:pid`, and since how many seconds; those that fit hold, the others wait. */
  readonly seats: string;
}

const CHOSEN = 'invoice:2026-0714';

const QUEUES: readonly Queue[] = [
  {
    name: CHOSEN,
    // The first ones leave while pictures are taken.
    seats: `invoicing@api-4:8120 360, invoicing@api-2:8001 350, invoicing@api-4:8121 340,
      invoicing@api-4:8122 330, invoicing@api-4:8123 322, invoicing@api-2:8001 300,
      invoicing@api-5:8120 290, invoicing@api-1:7940 280, invoicing@api-3:8112 252,
      refunds@api-6:8010 41, invoicing@worker-2:311 12`,
  },
  {
    ...{ name: 'scheduler', kind: 'permits', limit: 2, mark: 'candidate' },
    seats: `scheduler@node-a:17 86400, scheduler@node-b:22 85900,
      standby@node-c:19 7200, standby@node-d:25 3600`,
  },
  {
    ...{ name: 'gpu', kind: 'permits', limit: 4 },
    seats: 'train@gpu-1:90 900, train@gpu-1:91 899, train@gpu-2:90 898, train@gpu-2:95 897',
  },
  { name: 'account:1042', seats: 'transfer@api-1:7940 9, transfer@api-2:8001 6' },
  { name: 'account:2210', seats: 'transfer@api-2:8001 8, transfer@api-1:7940 5' },
  {
    ...{ name: 'config', kind: 'read', limit: 2 ** 30 },
    seats: 'web@api-1:7940 3, web@api-2:8001 2',
  },
  { name: 'once:report:2026-07', seats: 'report.sh@cron-1:4711 75' },
  { name: 'refresh:exchange-rates', seats: 'rates@api-2:8001 1' },
  { name: 'import:products', seats: 'import@worker-1:300 640, import@worker-2:311 300' },
  ...['sku-4410', 'sku-4411', 'sku-7003', 'sku-7119', 'sku-9001'].map((sku, n) => ({
    name: `stock:${sku}`,
    seats: `till@shop-${1 + (n % 3)}:${6_000 + n} ${1 + n}`,
  })),
];

const TTL_MS = 30_000;

interface Picture {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** Brings the page to show what the picture is of. */
  readonly view: (page: Page) => Promise<void>;
}

const choose = async (page: Page): Promise<void> => {
  await page.getByText(CHOSEN).first().click();
};

const PICTURES: readonly (readonly [name: string, picture: Picture])[] = [
  ['dashboard', { view: choose }],
  ['dashboard-timeline', { scheme: 'dark', height: 560, view: (page) => page.keyboard.press('t') }],
  ['dashboard-phone', { scheme: 'dark', width: 390, height: 760, view: choose }],
  [
    'dashboard-evict',
    {
      height: 620,
      async view(page) {
        await choose(page);
        await page.getByRole('button', { name: 'Evict' }).first().click();
        await page.getByLabel('Reason').fill('has hung since noon');
        await page.getByLabel('Type').fill(CHOSEN);
      },
    },
  ],
  // The last, because the queue is short by then.
  ['dashboard-graph', { height: 620, view: (page) => page.keyboard.press('g') }],
];

/** Serves a dashboard on the claims, which live as long as that, and takes all pictures of it. */
async function main(): Promise<void> {
  const claims = QUEUES.flatMap((queue) => claimsOf(queue));
  const store = memoryStore();
  for (const claim of claims) await store.claim([claim]);
  const locks = createLocks(store);
  const server = createServer(dashboard(locks, { auth: TOKEN, readOnly: false, every: 200 }));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { browser, close } = await openBrowser();
  const beats = setInterval(() => void store.renew(claims), 7_000);
  const sales = setInterval(() => void sell(store), 700);
  try {
    for (const [name, picture] of PICTURES) {
      const page = await open(browser, url, picture);
      await page.getByText(CHOSEN).first().waitFor();
      await sleep(1_500);
      await store.release(claims.splice(0, 1));
      await sleep(3_500);
      await picture.view(page);
      await page.screenshot({ path: `${IMAGES}${name}.png` });
      await page.context().close();
    }
  } finally {
    clearInterval(beats);
    clearInterval(sales);
    await close();
    server.closeAllConnections();
    server.close();
    await locks.close({ drain: 0 });
  }
}

async function open(browser: Browser, url: string, picture: Picture): Promise<Page> {
  const { scheme = 'light', width = 1180, height = 720 } = picture;
  const context = await browser.newContext({
    ...{ colorScheme: scheme, viewport: { width, height } },
    ...{ hasTouch: width < 500, isMobile: width < 500 },
    extraHTTPHeaders: { authorization: `Bearer ${TOKEN}` },
  });
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

function claimsOf({ seats, ...queue }: Queue): Claim[] {
  return seats.split(',').map((seat) => claimOf(queue, seat.trim()));
}

let ids = 0;

function claimOf({ name, kind = 'mutex', limit = 1, mark }: Omit<Queue, 'seats'>, seat: string) {
  const [, label = '', host = '', pid, seconds] = /^(.*)@(.*):(\d+) (\d+)$/.exec(seat) ?? [];
  ids += 1;
  const since = Date.now() - Number(seconds) * 1_000;
  const claim: Claim = {
    ...{ resource: name, id: ids.toString(16).padStart(32, '0'), kind, permits: 1, limit },
    ...{ ttlMs: TTL_MS, queue: true },
    holder: { host, pid: Number(pid), label, since, ...(mark !== undefined && { mark }) },
  };
  return claim;
}

let last: readonly Claim[] = [];

/** Tills sell one item after the other, so that something happens. */
async function sell(store: Store): Promise<void> {
  const next = ['sku-1207', 'sku-1208'].map((sku, n) =>
    claimOf({ name: `stock:${sku}` }, `till@shop-${1 + (ids % 3)}:${6_100 + n} 0`),
  );
  await store.claim(next);
  await sleep(100 + 400 * Math.random());
  await store.release(last);
  last = next;
}

await main();
