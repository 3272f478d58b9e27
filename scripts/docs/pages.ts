/**
 * The pages as the site has them. In the repository they are plain Markdown, as code hosts show it;
 * here they get shorter addresses and links that fit, and blocks of code that stand for one another
 * become tabs. A file of the sources that a page links to becomes a page too.
 */
import { posix } from 'node:path';
import { filesOf, type Tree } from '../../test/methods/tidy/tree.ts';

const PAGE = /^(?:(?:docs|bench|examples)\/.*|[A-Z]+)\.md$/;
const IMAGE = /\.(?:png|svg)$/;
const LANDING = 'scripts/docs/landing.md';

/** A block of code, as `split` needs it. */
const BLOCK = /(^```[\s\S]*?^```$)/m;
const LINK = /\]\(([^)\s#:]+)/g;
/** Blocks that follow one another, each with a title in brackets after its language. */
const TITLED = /(?:^```\w+ \[[^\]\n]+\]\n(?:(?!```).*\n)*```\n\n?){2,}/gm;

/** The text of each page by its path in the site. */
export function sitePages(tree: Tree): Map<string, string> {
  const pages = new Map<string, string>();
  const sources = new Set<string>();
  for (const [path, text] of filesOf(tree, PAGE)) {
    const linked = inProse(text, (prose) =>
      prose.replace(LINK, (link, to: string) => {
        const target = posix.join(posix.dirname(path), to);
        if (!tree.has(target)) return link;
        if (!PAGE.test(target) && !IMAGE.test(target)) sources.add(target);
        return `](${posix.relative(posix.dirname(placeOf(path)), placeOf(target))}`;
      }),
    );
    pages.set(placeOf(path), linked.replace(TITLED, tabs));
  }
  for (const path of sources) pages.set(placeOf(path), sourcePage(path, tree.get(path) ?? ''));
  // The landing page says what the first lines of the README say.
  const readme = (pages.get('index.md') ?? '').replace(/^# .*\n\n(?:.+\n)+\n/, '');
  return pages.set('index.md', `${tree.get(LANDING) ?? ''}\n${readme}`);
}

/** Where a file of the repository is in the site. */
export function placeOf(path: string): string {
  if (path === 'docs/README.md') return 'contents.md';
  if (!PAGE.test(path) && !IMAGE.test(path)) return `source/${path.replaceAll('.', '-')}.md`;
  return path.replace(/^docs\//, '').replace(/(?<=^|\/)README\.md$/, 'index.md');
}

function inProse(text: string, change: (prose: string) => string): string {
  const parts = text.split(BLOCK);
  return parts.map((part, n) => (n % 2 === 0 ? change(part) : part)).join('');
}

function tabs(blocks: string): string {
  return `::: code-group\n\n${blocks.trimEnd()}\n\n:::\n\n`;
}

/** Found by those who follow a link, not by those who search. */
function sourcePage(path: string, text: string): string {
  const language = posix.extname(path).slice(1) || 'txt';
  const [title, fence] = [posix.basename(path), '`'.repeat(5)];
  return `---
search: false
outline: false
---

# ${title}

\`${path}\`

${fence}${language}
${text.trimEnd()}
${fence}
`;
}
