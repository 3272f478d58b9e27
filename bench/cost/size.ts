/** What the core weighs, as a bundler for users would make it, without what Node brings. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { report } from '../measuring/result.ts';

const GOAL_BYTES = 8 * 1024;
const ENTRIES = ['holdfast', 'holdfast/memory', 'holdfast/sqlite'];

/** The bundler that comes with the tools of this project. */
const esbuild = createRequire(import.meta.url)('esbuild') as {
  buildSync(options: object): { readonly outputFiles: { readonly contents: Uint8Array }[] };
};

export function measure(): void {
  for (const entry of ENTRIES) {
    const [bundle] = esbuild.buildSync({
      entryPoints: [fileURLToPath(import.meta.resolve(entry))],
      ...{ bundle: true, minify: true, write: false },
      ...{ format: 'esm', platform: 'node', external: ['libsql'] },
    }).outputFiles;
    const code = bundle?.contents ?? new Uint8Array();
    const gzipped = gzipSync(code, { level: 9 }).length;
    report({
      what: entry,
      measured: { 'minified bytes': code.length, 'gzipped bytes': gzipped },
      ...(entry === 'holdfast' && { goal: '≤ 8,192 gzipped', met: gzipped <= GOAL_BYTES }),
    });
  }
}
