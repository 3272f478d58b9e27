/**
 * Bundles a page: `import { script, style } from './ui/app.tsx?bundle'` gets its code and its style
 * as text. The build, the tests and programs that run from sources share it, so no file is made.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const load = createRequire(import.meta.url);
const MARK = '?bundle';

/** The code of the module, if that path asks for a bundle. */
export function pageBundle(path) {
  if (!path.endsWith(MARK)) return undefined;
  const { outputFiles } = load('esbuild').buildSync({
    entryPoints: [path.slice(0, -MARK.length)],
    bundle: true,
    minify: true,
    target: 'es2022',
    outdir: 'page',
    write: false,
    // What the licence asks of copies.
    banner: { js: `/*! Preact\n${licence()}*/` },
  });
  const text = (ending) => outputFiles.find((file) => file.path.endsWith(ending))?.text ?? '';
  const [script, style] = ['.js', '.css'].map((ending) => JSON.stringify(text(ending)));
  return `export const script = ${script};\nexport const style = ${style};\n`;
}

function licence() {
  const folder = dirname(load.resolve('preact/package.json'));
  return readFileSync(join(folder, 'LICENSE'), 'utf8');
}
