import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

/**
 * What a page shows is in these files, which tests run: each of its blocks of TypeScript, but for
 * the lines that import, as a whole and in order.
 */
export function expectShown(page: string, ...files: readonly URL[]): void {
  const here = files.map((file) => flat(readFileSync(file, 'utf8'))).join(' ');
  const text = readFileSync(new URL(`../../../docs/guide/${page}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```ts.*\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  expect(blocks.length).toBeGreaterThan(0);
  for (const block of blocks) {
    // What is left out of the file in between is three dots.
    const parts = block.replace(/^import [\s\S]*?;$/gm, '').split(/^ *\/\/ \.\.\.$/m);
    for (const part of parts) expect(here).toContain(flat(part));
  }
}

/** However it is broken into lines. */
function flat(code: string): string {
  return code.replace(/\s+/g, '').replace(/,(?=[)\]}])/g, '');
}
