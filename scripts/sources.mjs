/**
 * `node --import ./scripts/sources.mjs FILE` runs TypeScript as it is, and lets it import the text
 * of files in Lua and SQL and the bundle of a page, as the bundler does.
 */
import { register } from 'node:module';
import 'tsx';

const hooks = `
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { pageBundle } from '${new URL('page-bundle.mjs', import.meta.url)}';
export async function load(url, context, next) {
  const bundle = url.endsWith('?bundle') && pageBundle(fileURLToPath(url) + '?bundle');
  if (bundle) return { format: 'module', shortCircuit: true, source: bundle };
  if (!/\\.(lua|sql)$/.test(url)) return next(url, context);
  const text = await readFile(new URL(url), 'utf8');
  const source = 'export default ' + JSON.stringify(text);
  return { format: 'module', shortCircuit: true, source };
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
