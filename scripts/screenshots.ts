/**
 * `npm run screenshots`: the pictures of the dashboard in docs/images, taken in a real browser of
 * real claims, whose hosts and ages are made up. With `-- --sizes`, pictures to look at instead, in
 * `site/dashboard`: every view of few and of many queues, light, dark, and on a phone.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createLocks } from 'holdfast';
import { dashboard } from 'holdfast/dashboard';
import { memoryStore } from 'holdfast/memory';
import type { Claim, Kind, Store } from 'holdfast/store';
import type { Page } from 'playwright-core';
import { openBrowser } from '../test/servers/browser.ts';

const IMAGES = fileURLToPath(new URL('../docs/images/', import.meta.url));
const LOOKS = fileURLToPath(new URL('../site/dashboard/', import.meta.url));

const SIZES = [0, 5, 2_000, 10_000];

/** The keys that lead to each. */
const VIEWS = { queues: 'q', graph: 'g', timeline: 't', busiest: 'b', details: 'qj' };

const DEVICES: Readonly<Record<string, Screen>> = {
  light: {},
  dark: { scheme: 'dark' },
  phone: { width: 390, height: 760 },
};

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

interface Screen {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
}

interface Picture extends Screen {
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

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { sizes: { type: 'boolean' } } });
  if (values.sizes) return pictureSizes();
  mkdirSync(IMAGES, { recursive: true });
  const claims = QUEUES.flatMap((queue) => claimsOf(queue));
  await serve(claims, async (store, open) => {
    for (const [name, { view, ...screen }] of PICTURES) {
      const page = await open(screen);
      await page.getByText(CHOSEN).first().waitFor();
      await sleep(1_500);
      await store.release(claims.splice(0, 1));
      await sleep(3_500);
      await view(page);
      await page.screenshot({ path: `${IMAGES}${name}.png` });
      await page.context().close();
    }
  });
}

async function pictureSizes(): Promise<void> {
  mkdirSync(LOOKS, { recursive: true });
  for (const size of SIZES) {
    const claims = Array.from({ length: size }, (_, n) => {
      const seats = `transfer@api-${n % 9}:${7_000 + (n % 90)} ${n}, refund@api-2:8001 ${n % 300}`;
      return claimsOf({ name: `account:${10_000 + n}`, seats });
    });
    await serve(claims.flat(), async (_, open) => {
      for (const [device, screen] of Object.entries(DEVICES)) {
        const page = await open(screen);
        await page.getByText('Live').waitFor();
        for (const [view, keys] of Object.entries(VIEWS)) {
          await page.keyboard.type(keys);
          await sleep(2_000);
          await page.screenshot({ path: `${LOOKS}${size}-${view}-${device}.png` });
        }
        await page.context().close();
      }
    });
  }
}

type Open = (screen: Screen) => Promise<Page>;

/** Serves a dashboard on these claims, which live as long as the work. */
async function serve(
  claims: readonly Claim[],
  work: (store: Store, open: Open) => Promise<void>,
): Promise<void> {
  const store = memoryStore();
  for (const claim of claims) await store.claim([claim]);
  const locks = createLocks(store);
  const token = 'of the pictures, for an hour';
  const server = createServer(dashboard(locks, { auth: token, readOnly: false, every: 200 }));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { browser, close } = await openBrowser();
  const beats = setInterval(() => void store.renew(claims), 7_000);
  const sales = claims.length > 0 ? setInterval(() => void sell(store), 700) : undefined;
  const open: Open = async ({ scheme = 'light', width = 1180, height = 720 }) => {
    const context = await browser.newContext({
      ...{ colorScheme: scheme, viewport: { width, height } },
      ...{ hasTouch: width < 500, isMobile: width < 500 },
      extraHTTPHeaders: { authorization: `Bearer ${token}` },
    });
    const page = await context.newPage();
    await page.goto(url);
    return page;
  };
  try {
    await work(store, open);
  } finally {
    clearInterval(beats);
    clearInterval(sales);
    await close();
    server.closeAllConnections();
    server.close();
    await locks.close({ drain: 0 });
  }
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
