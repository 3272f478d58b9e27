/** The configuration of VitePress; `site/.vitepress/config.mjs` exports it (scripts/docs.ts). */
import { readFileSync } from 'node:fs';
import { SEARCH } from './search.ts';
import { slugOf } from './slug.ts';

const MENU = new URL('../../site/.vitepress/menu.json', import.meta.url);

export const CONFIG: object = {
  title: 'Holdfast',
  description: 'Distributed locks for TypeScript that tell you when a lock is lost',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'html',
  // As code hosts read the same pages: their anchors, and nothing made of braces or smileys.
  markdown: {
    anchor: { slugify: slugOf },
    attrs: { disable: true },
    emoji: { shortcuts: {} },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    nav: [
      { text: 'Guide', link: '/guide/getting-started', activeMatch: '^/guide/' },
      { text: 'Stores', link: '/reference/stores', activeMatch: '^/(stores/|reference/stores)' },
      { text: 'Errors', link: '/reference/errors' },
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
    ],
    sidebar: JSON.parse(readFileSync(MENU, 'utf8')),
    outline: { level: [2, 3] },
    search: { provider: 'local', options: { miniSearch: { searchOptions: SEARCH } } },
    footer: { message: 'MIT License' },
  },
};
