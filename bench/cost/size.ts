/** What the core weighs, as a bundler for users would make it, without what Node brings. */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { report } from '../measuring/result.ts';

const GOAL_BYTES = 8 * 1024;
const ENTRIES = ['holdfast', 'holdfast/memory', 'holdfast/sqlite'];

export function measure(): void {
  for (const entry of ENTRIES) {
    const [bundle] = buildSync({
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
