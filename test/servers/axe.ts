/** axe-core: what in a page keeps some people out. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { fetchModules } from '../../scripts/package/tools.ts';

const VERSION = { 'axe-core': '4.14.1' };

/** In the page: the rule and the element of each fault. */
const FOUND = `({ violations }) => violations.flatMap(({ id, nodes }) =>
  nodes.map(({ target }) => id + ': ' + target.join(' ')))`;

/**
 * What is wrong in the page as it is now, by these rules; default by all. A policy that keeps the
 * script out must be bypassed.
 */
export async function axeFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (await page.evaluate<boolean>('globalThis.axe === undefined')) {
    const folder = await fetchModules('axe', VERSION);
    await page.addScriptTag({ path: join(folder, 'node_modules/axe-core/axe.min.js') });
  }
  const options = JSON.stringify(rules ? { runOnly: rules } : {});
  return page.evaluate<string[]>(`axe.run(${options}).then(${FOUND})`);
}
