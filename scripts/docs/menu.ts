/** The menu of the site: what the indexes of the repository list, under the same headings. */
import { posix } from 'node:path';
import type { Tree } from '../../test/methods/tidy/tree.ts';
import { placeOf } from './pages.ts';

export interface MenuGroup {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** By the beginning of the address for which it holds. */
export type Menu = Readonly<Record<string, readonly MenuGroup[]>>;

export function menuOf(tree: Tree, modules: readonly string[]): Menu {
  const decisions = groupsIn(tree, 'docs/design/README.md');
  const api = modules.map((name) => ({ text: name, link: `/api/${name}` }));
  return {
    '/api/': [{ text: 'API', items: api }],
    '/': [
      ...groupsIn(tree, 'docs/README.md'),
      ...decisions.map((group) => ({ ...group, collapsed: true })),
    ],
  };
}

/** The sections of an index that link to pages, which are named by their headings. */
function groupsIn(tree: Tree, index: string): MenuGroup[] {
  const sections = (tree.get(index) ?? '').split(/^#+ /m).slice(1);
  return sections.flatMap((section) => {
    const [text = ''] = section.split('\n', 1);
    const links = [...section.matchAll(/\]\(([^)\s#:]+\.md)\)/g)];
    const paths = new Set(links.map(([, to = '']) => posix.join(posix.dirname(index), to)));
    const items = [...paths].map((path) => ({ text: titleOf(tree, path), link: linkTo(path) }));
    return items.length > 0 ? [{ text, items }] : [];
  });
}

function titleOf(tree: Tree, path: string): string {
  const [, heading] = /^# (.+)$/m.exec(tree.get(path) ?? '') ?? [];
  return (heading ?? path).replaceAll('`', '');
}

function linkTo(path: string): string {
  return `/${placeOf(path).replace(/(?:(?<=^|\/)index)?\.md$/, '')}`;
}
