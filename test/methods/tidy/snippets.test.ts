/** What is wrong with the code in pages and comments is found, and told on its line in the page. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { snippetProblems } from '../../../scripts/types/snippets.ts';
import { ROOT } from './tree.ts';

const PRELUDE = 'declare function myStore(): object;\n';
const HOLDFAST = 'export declare function createLocks(store: object): void;\n';
const CONFIG = {
  extends: join(ROOT, 'tsconfig.json'),
  compilerOptions: { paths: { holdfast: ['./holdfast.d.ts'] } },
};

const page = (code: string): string => `\`\`\`ts\n${code}\n\`\`\`\n`;
const comment = (text: string): string =>
  `/**\n * @example\n${text.replace(/^/gm, ' * ')}\n * @throws UsageError\n */\n`;
const RIGHT = "import { createLocks } from 'holdfast';\n\ncreateLocks(myStore());";
const NESTJS = " // from '@nestjs/common'\nexport class A { constructor(readonly a: number) {} }";

/** As small as a program can be that has the options of the project. */
function project(): string {
  // Below the root, for the types of Node.
  const cache = join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'types-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'docs'));
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
  writeFileSync(join(folder, 'holdfast.d.ts'), HOLDFAST);
  writeFileSync(join(folder, 'docs/snippets.d.ts'), PRELUDE);
  return folder;
}

/** Where in them something is wrong. */
async function placesIn(pages: Readonly<Record<string, string>>): Promise<string[]> {
  const problems = await snippetProblems(new Map(Object.entries(pages)), project(), 'native');
  const places = problems.map((problem) => problem.split(': ', 1)[0] ?? '');
  return [...new Set(places)].sort();
}

test('each fault is found in its place, and none in what is right', async () => {
  const places = placesIn({
    'README.md': `# Title\n\n${page('nonsense();')}`,
    'docs/guide/right.md': page(RIGHT),
    'docs/guide/nestjs.md': page(NESTJS),
    'docs/guide/not-erasable.md': page(NESTJS.replace('nestjs', 'elsewhere')),
    'src/broken.ts': comment('\nnonsense();'),
    'src/bare.ts': comment('createLocks(myStore());'),
    'src/fenced.ts': comment(page('nonsense();')),
    'src/right.ts': comment(RIGHT),
    'src/right-too.ts': comment(page(RIGHT)),
  });
  expect(await places).toEqual([
    ...['README.md:4', 'docs/guide/not-erasable.md:3', 'src/bare.ts:3'],
    ...['src/broken.ts:4', 'src/fenced.ts:4'],
  ]);
});

// What cannot be parsed hides what would be found in the others.
test('prose behind an example is found', async () => {
  const places = placesIn({ 'src/prose.ts': comment('await step();\n\nSee there.') });
  expect(await places).toEqual(['src/prose.ts:5']);
});
