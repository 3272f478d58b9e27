/** Pictures of the site in a real browser, and what is wrong with the pages that they show. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { axeFaults } from '../../test/servers/axe.ts';
import { openBrowser } from '../../test/servers/browser.ts';

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

const PAGES: readonly (readonly [name: string, address: string])[] = [
  ['landing', ''],
  ['tabs', 'guide/getting-started.html'],
  ['docker', 'guide/redis-in-docker.html'],
  ['tables', 'stores/redis.html'],
  ['errors', 'reference/errors.html'],
  ['reference', 'api/holdfast/redis.html'],
];

/** Answers the problems; each picture is `NAME-SCHEME-DEVICE.png`. */
export async function takePictures(url: string, folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const problems: string[] = [];
  const { browser, close } = await openBrowser();
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [device, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
        const context = await browser.newContext({ colorScheme, viewport });
        const page = await context.newPage();
        for (const [name, address] of PAGES) {
          await page.goto(`${url}${address}`, { waitUntil: 'networkidle' });
          const picture = `${name}-${colorScheme}-${device}`;
          await page.screenshot({ path: join(folder, `${picture}.png`) });
          problems.push(...(await faults(page)).map((fault) => `${picture}: ${fault}`));
        }
        await search(page, 'LEASE_LOST');
        await page.screenshot({ path: join(folder, `search-${colorScheme}-${device}.png`) });
        await context.close();
      }
    }
  } finally {
    await close();
  }
  return problems;
}

/** Too wide for the screen, and texts that WCAG's level AA calls too faint. */
async function faults(page: Page): Promise<string[]> {
  const tooWide = 'document.documentElement.scrollWidth > window.innerWidth';
  const wide = (await page.evaluate<boolean>(tooWide)) ? ['wider than the screen'] : [];
  return [...wide, ...(await axeFaults(page, ['color-contrast']))];
}

async function search(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox').fill(words);
  await page.getByRole('option').first().waitFor();
}
