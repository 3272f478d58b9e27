/**
 * What programs import as text. The build, the tests and programs that run from sources share it,
 * so all processes of a version send the same scripts, and no file is made.
 *
 * `import claim from './lua/claim.lua'` gets a text in Lua or SQL without its comments, which only
 * readers of the sources need. Lua also loses its indentation and empty lines. Then the lines that
 * an error of Redis counts are not those of a file; they never are, since a script is put together
 * from several files. SQL keeps both, because people read it when they print a migration.
 *
 * `import { script, style } from './ui/app.tsx?bundle'` gets the code and the style of a page.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const load = createRequire(import.meta.url);
const BUNDLE = '?bundle';

/** Here `--` is text. A backslash escapes in Lua and MySQL, and our SQL for PostgreSQL has none. */
const STRING = String.raw`('(?:\\[\s\S]|[^'\\])*'|"(?:\\[\s\S]|[^"\\])*"|\[(=*)\[[\s\S]*?\]\2\])`;
/** To the end of its line: there are no others. Those that name a part (forms.ts) stay. */
const LINE = '--(?! include ).*';
const COMMENT = new RegExp(`${STRING}|^ *${LINE}\\n| *${LINE}`, 'gm');
const BLANK = new RegExp(`${STRING}|^\\s+`, 'gm');

/** The code of the module, if that path is of such a file or asks for a bundle. */
export function textFile(path) {
  if (path.endsWith(BUNDLE)) return pageBundle(path.slice(0, -BUNDLE.length));
  if (!/\.(lua|sql)$/.test(path)) return undefined;
  return `export default ${JSON.stringify(stripped(path, readFileSync(path, 'utf8')))};\n`;
}

/** What is imported of that text. */
export function stripped(path, text) {
  const bare = text.replace(COMMENT, '$1');
  return path.endsWith('.lua') ? bare.replace(BLANK, '$1') : bare;
}

function pageBundle(path) {
  const licence = join(dirname(load.resolve('preact/package.json')), 'LICENSE');
  const { outputFiles } = load('esbuild').buildSync({
    entryPoints: [path],
    bundle: true,
    minify: true,
    target: 'es2022',
    outdir: 'page',
    write: false,
    // What the licence asks of copies.
    banner: { js: `/*! Preact\n${readFileSync(licence, 'utf8')}*/` },
  });
  const text = (ending) => outputFiles.find((file) => file.path.endsWith(ending))?.text ?? '';
  const [script, style] = ['.js', '.css'].map((ending) => JSON.stringify(text(ending)));
  return `export const script = ${script};\nexport const style = ${style};\n`;
}
