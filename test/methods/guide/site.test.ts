/** The check of `npm run docs` for links that lead nowhere. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { deadLinks } from '../../../scripts/docs/dead-links.ts';

it('finds links of a site to files and headings that are not there, and no others', () => {
  const site = mkdtempSync(join(tmpdir(), 'holdfast-site-'));
  onTestFinished(() => rmSync(site, { recursive: true }));
  mkdirSync(join(site, 'guide'));
  writeFileSync(join(site, 'style.css'), '');
  writeFileSync(
    join(site, 'index.html'),
    `<link rel="stylesheet" href="style.css"/><h1 id="top">A</h1><a href="#top">ok</a>
    <a class="x" href="guide/a.html#b">ok</a><a href="https://example.org/#x">ok</a>
    <a href="guide/a.html#c">dead</a><img src="gone.svg"/>`,
  );
  writeFileSync(
    join(site, 'guide/a.html'),
    '<h2 id="b">B</h2><a href="../#top">ok</a><a href="../gone.html">dead</a>',
  );
  expect(deadLinks(site).sort()).toEqual([
    'guide/a.html links to ../gone.html',
    'index.html links to gone.svg',
    'index.html links to guide/a.html#c',
  ]);
});
