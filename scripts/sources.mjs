/**
 * `node --import ./scripts/sources.mjs FILE` runs TypeScript as it is, and lets it import the text
 * of files in Lua and SQL and the bundle of a page, as the bundler does.
 */
import { register } from 'node:module';
import 'tsx';

const hooks = `
import { fileURLToPath } from 'node:url';
import { textFile } from '${new URL('text-files.mjs', import.meta.url)}';
export async function load(url, context, next) {
  const path = url.startsWith('file:') ? fileURLToPath(url) : '';
  const source = textFile(url.endsWith('?bundle') ? path + '?bundle' : path);
  if (source === undefined) return next(url, context);
  return { format: 'module', shortCircuit: true, source };
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
