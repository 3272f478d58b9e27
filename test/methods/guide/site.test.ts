/** What `npm run docs` makes of the pages, and its check for links that lead nowhere. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deadLinks } from '../../../scripts/docs/dead-links.ts';
import { menuOf } from '../../../scripts/docs/menu.ts';
import { sitePages } from '../../../scripts/docs/pages.ts';
import { directory } from '../../support/directory.ts';
import type { Tree } from '../tidy/tree.ts';

const treeOf = (files: Readonly<Record<string, string>>): Tree => new Map(Object.entries(files));

/** The page that the site has in place of this one, amid some others. */
function sited(text: string): string | undefined {
  const others = { 'README.md': '# R\n', 'docs/README.md': '# All\n', 'docs/stores/a.md': '# A\n' };
  const files = { 'src/core/a.ts': 'const a = 1;\n', 'docs/images/a.svg': '<svg/>' };
  return sitePages(treeOf({ ...others, ...files, 'docs/guide/b.md': text })).get('guide/b.md');
}

describe('a page', () => {
  it('links to pages, pictures and sources where they are in the site', () => {
    expect(sited('[a](../stores/a.md#x) ![a](../images/a.svg)')).toBe(
      '[a](../stores/a.md#x) ![a](../images/a.svg)',
    );
    expect(sited('[all](../README.md#stores) [readme](../../README.md)')).toBe(
      '[all](../contents.md#stores) [readme](../index.md)',
    );
    expect(sited('[code](../../src/core/a.ts)')).toBe('[code](../source/src/core/a-ts.md)');
  });

  it('keeps all other links, and what looks like one in code', () => {
    const text = '[b](#b) [c](https://example.org/a.md) [d](gone.md)\n\n';
    const code = '```ts\nall[0](../README.md);\n```\n';
    expect(sited(text + code)).toBe(text + code);
  });

  it('has blocks with titles as tabs, if there are several one after another', () => {
    const block = (info: string): string => `\`\`\`ts${info}\ncode;\n\`\`\`\n`;
    const two = `${block(' [pg]')}\n${block(' [mysql2]')}`;
    expect(sited(`A.\n\n${two}\nB.\n`)).toBe(`A.\n\n::: code-group\n\n${two}\n:::\n\nB.\n`);
    for (const others of [`${block('')}\n${block('')}`, `${block(' [pg]')}\nB.\n`]) {
      expect(sited(others)).toBe(others);
      expect(sited(`${others}\n${two}`)).toBe(`${others}\n::: code-group\n\n${two}\n:::\n\n`);
    }
  });
});

describe('the site', () => {
  it('has a page for a source that a page links to, which the search leaves out', () => {
    const sources = { 'src/a.ts': 'a;\n', 'src/b.ts': 'b;\n' };
    const pages = sitePages(treeOf({ 'SECURITY.md': '[a](src/a.ts)\n', ...sources }));
    expect([...pages.keys()].sort()).toEqual(['SECURITY.md', 'index.md', 'source/src/a-ts.md']);
    const page = pages.get('source/src/a-ts.md');
    expect(page).toMatch(/^---\nsearch: false\n/);
    expect(page).toMatch(/\n`{5}ts\na;\n`{5}\n$/);
  });

  it('begins with the landing page, which goes on as the README does', () => {
    const readme = '# Holdfast\n\nLocks,\nin two lines.\n\n## More\n\nText.\n';
    const landing = '---\nlayout: home\n---\n';
    const tree = treeOf({ 'README.md': readme, 'scripts/docs/landing.md': landing });
    expect(sitePages(tree).get('index.md')).toBe(`${landing}\n## More\n\nText.\n`);
  });

  it('has the menu that the indexes are, with the headings of the pages', () => {
    const index = '# D\n\n## Guide\n\n### Start\n\n- [first](guide/a.md), [again](guide/a.md#x)\n';
    const tree = treeOf({
      'docs/README.md': `${index}\n## More\n\n[figures](../bench/README.md)\n`,
      'docs/guide/a.md': '# Of `a`\n',
      'bench/README.md': '# Figures\n',
      'docs/design/README.md': '# Decisions\n\n- [1](0001-a.md) One\n',
      'docs/design/0001-a.md': '# 1. One\n',
    });
    expect(menuOf(tree, ['holdfast', 'holdfast/a'])).toEqual({
      '/api/': [
        {
          text: 'API',
          items: [
            { text: 'holdfast', link: '/api/holdfast' },
            { text: 'holdfast/a', link: '/api/holdfast/a' },
          ],
        },
      ],
      '/': [
        { text: 'Start', items: [{ text: 'Of a', link: '/guide/a' }] },
        { text: 'More', items: [{ text: 'Figures', link: '/bench/' }] },
        {
          ...{ text: 'Decisions', collapsed: true },
          items: [{ text: '1. One', link: '/design/0001-a' }],
        },
      ],
    });
  });
});

it('finds links of a site to files and headings that are not there, and no others', () => {
  const site = directory();
  mkdirSync(join(site, 'guide'));
  writeFileSync(join(site, 'style.css'), '');
  writeFileSync(
    join(site, 'index.html'),
    `<link rel="stylesheet" href="/style.css"/><h1 id="top">A</h1><a href="#top">ok</a>
    <a class="x" href="guide/a.html#b">ok</a><a href="https://example.org/#x">ok</a>
    <a href="guide/a.html#c">dead</a><img src="gone.svg"/>`,
  );
  writeFileSync(
    join(site, 'guide/a.html'),
    `<h2 id="b">B</h2><a href="../#top">ok</a><a href="/#top">ok</a><a href="../gone.html">dead</a>
    <a href="/guide/gone.html">dead</a>`,
  );
  expect(deadLinks(site).sort()).toEqual([
    'guide/a.html links to ../gone.html',
    'guide/a.html links to /guide/gone.html',
    'index.html links to gone.svg',
    'index.html links to guide/a.html#c',
  ]);
});
