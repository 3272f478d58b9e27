/** The dashboard in a real browser: Chromium, as the command line serves it, on a real Redis. */
import { createLocks } from 'holdfast';
import { createElection } from 'holdfast/election';
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { TOKEN } from '../../dashboard/bed.ts';
import { axeFaults } from '../../servers/axe.ts';
import { ELSEWHERE, openBrowser } from '../../servers/browser.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { HANG_MS } from '../../support/this-run.ts';
import { Place } from '../program.ts';

const browser = await openBrowser();
afterAll(() => browser.close());

async function start(...flags: string[]) {
  const server = await RedisServer.start({ persistent: true });
  const proxy = await TcpProxy.start(server.port);
  const client = new Redis(server.url);
  const locks = createLocks(redisStore(client, { afterDataLoss: 'trust' }), { label: 'test' });
  onTestFinished(async () => {
    await locks.close({ drain: 0 }).catch(() => {});
    client.disconnect();
    proxy.close();
    await server.close();
  });
  const place = new Place();
  const proxied = `redis://${proxy.host}:${proxy.port}?afterDataLoss=trust`;
  const env = { HOLDFAST_STORE: proxied, HOLDFAST_DASHBOARD_TOKEN: TOKEN };
  const program = place.start(['dashboard', '--port', '0', ...flags], { env });
  await program.says('\n');
  const store = `${server.url}?afterDataLoss=trust`;
  return { place, store, locks, proxy, url: program.out.trim() };
}

/** Where the token is asked for; counts what the policy of the page has forbidden. */
async function door(url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(HANG_MS);
  await page.addInitScript(`
    globalThis.forbidden = 0;
    addEventListener('securitypolicyviolation', () => (globalThis.forbidden += 1));
  `);
  await page.goto(url);
  return page;
}

/** With the token, as a person does. */
async function enter(page: Page): Promise<void> {
  await page.getByLabel('Token').fill(TOKEN);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByText('Live').waitFor();
}

async function open(url: string): Promise<Page> {
  const page = await door(url);
  await enter(page);
  return page;
}

/** How often the policy forbade something, and what hostile text has set. */
const noticed = (page: Page): Promise<unknown> =>
  page.evaluate('({ forbidden: globalThis.forbidden, hacked: globalThis.hacked })');

const SCREENS = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

describe('the dashboard', () => {
  it('shows four processes that sell, and takes the lock away from one', async () => {
    const { place, store, locks, url } = await start('--evict');
    const tills = ['till-1', 'till-2', 'till-3', 'till-4'].map((label) => {
      const run = ['run', 'stock', '--ttl', '2s', '--label', label, '--store', store];
      return { label, program: place.start([...run, '--', 'cat']) };
    });
    const page = await open(url);
    await page.getByRole('option', { name: 'stock' }).click();
    const details = page.getByRole('region', { name: 'Details' });
    await expect.poll(() => details.getByRole('button', { name: 'Evict' }).count()).toBe(4);
    const queue = await locks.inspect('stock');
    const order = [...queue.holders, ...queue.waiters].map(({ holder }) => holder.label);
    const labels = details.locator('.place .one-line > bdi');
    expect(await labels.allTextContents()).toEqual(order);

    const evict = details.getByRole('button', { name: 'Evict' }).first();
    await evict.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('Evict');
    await evict.click();
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Evict' });
    await page.getByLabel('Reason').fill('it <b>hangs</b>');
    await page.getByLabel('Type').fill('stick');
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel('Type').fill('stock');
    await confirm.click();
    const evicted = tills.find(({ label }) => label === order[0]);
    const fate = await evicted?.program.fate;
    expect(fate).toMatchObject({ status: 79 });
    expect(fate?.err).toContain('it <b>hangs</b>');
    await expect.poll(() => labels.first().textContent()).toBe(order[1]);
    await details.getByText('it <b>hangs</b>').first().waitFor();
    expect(await noticed(page)).toEqual({ forbidden: 0, hacked: undefined });
  });

  it('is quick with ten thousand resources: few of them are in the page', async () => {
    const { locks, url } = await start();
    const names = Array.from({ length: 10_000 }, (_, n) => `account:${10_000 + n}`);
    await Promise.all(names.map((name) => locks.mutex(name).acquire()));
    const page = await open(url);
    await page.getByText('10,000 shown').waitFor();
    const nodes = () => page.evaluate<number>(`document.querySelectorAll('*').length`);
    expect(await nodes()).toBeLessThan(1_000);
    await page.locator('.list').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    const last = page.locator('.row').last();
    await expect.poll(() => last.getAttribute('aria-posinset')).toBe('10000');
    expect(await nodes()).toBeLessThan(1_000);
    await page.keyboard.press('/');
    await page.keyboard.type('account:12345');
    await page.getByText('1 of 10,000 shown').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('10,000 shown').waitFor();
    // A list of choices has keys of its own.
    await page.getByLabel('Kind').focus();
    await page.keyboard.press('g');
    await page.keyboard.press('j');
    await page.getByRole('button', { name: 'Pause' }).focus();
    await page.keyboard.press('ArrowDown');
    const chosen = () => page.locator('.row[aria-selected="true"]').count();
    expect(await chosen()).toBe(0);
    await page.getByLabel('Kind').focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await expect.poll(chosen).toBe(1);
    // Another person who gets the address sees the same; Back closes it.
    expect(page.url()).toMatch(/#name=account%3A\d{5}$/);
    await page.reload();
    await page.getByRole('region', { name: 'Details' }).waitFor();
    await page.goBack();
    await expect.poll(() => page.getByRole('region', { name: 'Details' }).count()).toBe(0);
  });

  it('says that its store is away, and goes on when it is back', async () => {
    const { locks, proxy, url } = await start();
    await locks.mutex('before').acquire();
    const page = await open(url);
    await page.getByText('before', { exact: true }).waitFor();
    proxy.refuse();
    proxy.reset();
    await page.getByText('Store away').waitFor();
    await page.getByRole('alert').getByText('Below is what was so at').waitFor();
    expect(await page.locator('.app.paused.stale').count()).toBe(1);
    await page.reload();
    await page.getByText('It is not known what is held.').waitFor();
    await locks.mutex('meanwhile').acquire();
    await proxy.accept();
    await page.getByText('meanwhile', { exact: true }).waitFor();
    await page.getByText('Live').waitFor();
  });

  it('shows hostile text as it is, also without TLS, and runs nothing of them', async () => {
    const { locks, url } = await start('--evict');
    const hostile = [
      '<img src=x onerror="globalThis.hacked=1">',
      '</script><script>globalThis.hacked=2</script>',
      'javascript:globalThis.hacked=3',
      '"><svg onload=globalThis.hacked=4>',
      '\u202eright to left\u0000',
      `${'{{constructor.constructor("globalThis.hacked=5")()}}'}`,
    ];
    for (const name of hostile) {
      await locks.mutex(name).acquire({ label: name });
      const fair = locks.mutex(name, { fair: true });
      fair.acquire({ label: name }).catch(() => {});
    }
    const page = await open(url.replace('127.0.0.1', ELSEWHERE));
    const shown = page.locator('.row .name');
    await expect.poll(() => shown.count()).toBe(hostile.length);
    // A page has no U+0000: it shows a sign for it.
    const text = (name: string): string => name.replace('\u0000', '\ufffd');
    expect((await shown.allTextContents()).map(text).sort()).toEqual(hostile.map(text).sort());
    for (const view of ['Graph', 'Timeline', 'Queues']) {
      await page.getByRole('button', { name: view }).click();
    }
    for (let n = 0; n < hostile.length; n += 1) {
      await page.locator('.row').nth(n).click();
      await page.getByRole('button', { name: 'Evict' }).first().click();
      await page.getByLabel('Reason').waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    }
    expect(await noticed(page)).toEqual({ forbidden: 0, hacked: undefined });
    // The count is right: this is forbidden.
    await page.evaluate(`document.body.append(
      Object.assign(document.createElement('img'), { src: 'https://elsewhere.example/a.png' }),
    )`);
    await expect.poll(() => noticed(page)).toMatchObject({ forbidden: 1 });
  });

  it.each(['light', 'dark'] as const)('has nothing that axe finds, %s', async (colorScheme) => {
    const { locks, url } = await start('--evict');
    await locks.mutex('stock').acquire();
    const waiting = locks.mutex('stock', { fair: true }).acquire();
    waiting.catch(() => {});
    await locks.semaphore('gpu', { limit: 2 }).acquire();
    createElection(locks, 'scheduler').campaign();
    const faults: string[] = [];
    for (const [screen, viewport] of Object.entries(SCREENS)) {
      const page = await door(url, { colorScheme, viewport, bypassCSP: true });
      const look = async (what: string): Promise<void> => {
        const found = await axeFaults(page);
        faults.push(...found.map((fault) => `${what} on a ${screen}: ${fault}`));
      };
      await look('the door');
      await enter(page);
      // Comes while the page looks, so that it has happened there.
      const fresh = `bought on a ${screen}`;
      await locks.mutex(fresh).acquire();
      for (const view of ['Timeline', 'Busiest']) {
        await page.getByRole('button', { name: view }).click();
        await page.getByRole('button', { name: fresh }).waitFor();
        await look(view);
      }
      await page.getByRole('button', { name: 'Graph' }).click();
      await page.getByText('An arrow leads').waitFor();
      await look('the graph');
      await page.getByRole('button', { name: 'Queues' }).click();
      await page.getByRole('option', { name: 'stock' }).waitFor();
      await look('the list');
      await page.getByRole('option', { name: 'stock' }).click();
      await page.getByRole('region', { name: 'Details' }).waitFor();
      await look('the details');
      await page.getByRole('button', { name: 'Evict' }).first().click();
      await page.getByLabel('Reason').waitFor();
      await look('an eviction');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Keys' }).click();
      await look('the keys');
    }
    expect(faults).toEqual([]);
  });
});
