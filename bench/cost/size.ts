/** What the core weighs, and what importing it costs a process that starts. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { median, quantile, report, takeTurns } from '../measuring/result.ts';

const GOAL_BYTES = 8 * 1024;
const STARTS = 20;

/** The bundler that comes with the tools of this project. */
const esbuild = createRequire(import.meta.url)('esbuild') as {
  buildSync(options: object): { readonly outputFiles: { readonly contents: Uint8Array }[] };
};

const ENTRIES = ['holdfast', 'holdfast/memory', 'holdfast/sqlite'];

export async function measure(): Promise<void> {
  for (const entry of ENTRIES) {
    const { minified, gzipped } = weigh(entry);
    report({
      what: entry,
      measured: { 'minified bytes': minified, 'gzipped bytes': gzipped },
      ...(entry === 'holdfast' && { goal: '≤ 8,192 gzipped', met: gzipped <= GOAL_BYTES }),
    });
  }
  const starts = ['', ...ENTRIES].map((entry, n) => {
    const file = script(`start-${n}`, entry && `await import('${entry}');`);
    const name = entry ? `start importing ${entry}` : 'floor: start of an empty script';
    const round = async () => {
      const since = performance.now();
      execFileSync(process.execPath, [file]);
      return { perSecond: 1, micros: [(performance.now() - since) * 1000] };
    };
    return { name, round };
  });
  for (const { name, median, p99, timeRatio } of await takeTurns(starts, STARTS)) {
    const measured = { 'median ms': median / 1000, 'p99 ms': p99 / 1000 };
    report({ what: name, measured, ratio: timeRatio });
  }
  const text = `const since = performance.now();
    await import('holdfast');
    console.log(performance.now() - since);`;
  const file = script('import-only', text);
  const imports = Array.from({ length: STARTS }, () => +execFileSync(process.execPath, [file]));
  const measured = { 'median ms': median(imports), 'p99 ms': quantile(imports, 0.99) };
  report({ what: 'the import alone', measured });
}

/** Inside the folder of the scripts, so that the package is found by its name. */
function script(name: string, text: string): string {
  const file = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  writeFileSync(file, `${text}\n`);
  return file;
}

/** One file, as a bundler for users would make it, without what Node brings. */
function weigh(entry: string): { minified: number; gzipped: number } {
  const [bundle] = esbuild.buildSync({
    entryPoints: [fileURLToPath(import.meta.resolve(entry))],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    external: ['libsql'],
    write: false,
  }).outputFiles;
  const code = bundle?.contents ?? new Uint8Array();
  return { minified: code.length, gzipped: gzipSync(code, { level: 9 }).length };
}
