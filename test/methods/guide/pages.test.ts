/**
 * The code in the pages, and the examples in the comments of the sources, run as they stand there
 * (test/methods/guide/play.ts). Those that need a server are run by test/servers/pages.test.ts.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manifestOf } from '../tidy/entries.ts';
import { PAGES, SOURCES, snippetsIn } from '../tidy/snippets.ts';
import { filesOf, readTree } from '../tidy/tree.ts';
import { isAt } from './blocks.ts';
import { needsServer, RUN_BY, WRITING } from './elsewhere.ts';
import { play } from './play.ts';
import { SCENARIOS } from './scenarios.ts';
import { openWorld } from './world.ts';

const tree = readTree();
const snippets = snippetsIn(tree);
const blocks = snippets.filter(({ page }) => !(page in RUN_BY));
const toRun = blocks.filter((block) => !needsServer(block));

// Some have files of their own in the directory in which they run.
const before = process.cwd();
const directory = mkdtempSync(join(tmpdir(), 'holdfast-pages-'));
beforeAll(() => process.chdir(directory));
afterAll(() => {
  process.chdir(before);
  rmSync(directory, { recursive: true, force: true });
});

test.each(toRun)('$page:$line', async (block) => {
  await play(block, await openWorld());
});

test('no block is overlooked, however it is written', () => {
  const marks = (files: RegExp, mark: RegExp): number =>
    filesOf(tree, files).flatMap(([, text]) => text.match(mark) ?? []).length;
  expect(snippets.length).toBe(marks(PAGES, /^ *```ts/gm) + marks(SOURCES, /@example|^ *\* ```/gm));
});

/** Of the package, as users import them. */
const entries = Object.keys(manifestOf(tree).exports ?? {})
  .filter((entry) => !entry.endsWith('.json'))
  .map((entry) => entry.replace('.', 'holdfast'));

test.each(entries)('every function of %s has an example', async (entry) => {
  const shown = /@example(?:(?!\*\/)[\s\S])*\*\/\s*export (?:async )?function (\w+)/g;
  const names = filesOf(tree, SOURCES).flatMap(([, text]) =>
    [...text.matchAll(shown)].map(([, name]) => name),
  );
  const isFunction = ([name, value]: [string, unknown]): boolean =>
    typeof value === 'function' && /^[a-z]/.test(name);
  const functions = Object.entries(await import(entry)).filter(isFunction);
  expect(functions.map(([name]) => name).filter((name) => !names.includes(name))).toEqual([]);
});

test.each(WRITING)('$page has one block with $has, which needs a server', (place) => {
  const found = blocks.filter((block) => isAt(block)(place));
  expect(found.map(needsServer)).toEqual([true]);
});

test('every scenario is for one block', () => {
  for (const scenario of SCENARIOS) {
    expect(
      blocks.filter((block) => isAt(block)(scenario)),
      scenario.has,
    ).toHaveLength(1);
  }
  for (const block of blocks) expect(SCENARIOS.filter(isAt(block)).length).toBeLessThan(2);
});

test.each(Object.entries(RUN_BY))('%s is run by %s', (page, path) => {
  expect(snippets.some((block) => block.page === page)).toBe(true);
  const name = page.replace('docs/guide/', '');
  expect(readFileSync(join(before, path), 'utf8')).toContain(name);
});
