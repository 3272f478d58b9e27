/** Links of a folder of pages that lead to a file or a heading that is not there. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const LINK = /<(?:a|link|img|script|object)\b[^>]*?\s(?:href|src|data)="([^"]*)"/g;
const ID = /\s(?:id|name)="([^"]*)"/g;

export function deadLinks(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const pages = new Map<string, Page | undefined>(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path, name.endsWith('.html') ? read(path) : undefined];
    }),
  );
  const dead: string[] = [];
  for (const [path, page] of pages) {
    for (const link of page?.links ?? []) {
      const [file = '', anchor = ''] = link.split('#').map(decodeURIComponent);
      const base = file.startsWith('/') ? folder : dirname(path);
      const place = file === '' ? path : join(base, file.replace(/\?.*/, ''));
      const target = place.endsWith('/') ? `${place}index.html` : place;
      const isThere = pages.has(target) && (anchor === '' || pages.get(target)?.ids.has(anchor));
      if (!isThere) dead.push(`${relative(folder, path)} links to ${link}`);
    }
  }
  return dead;
}

interface Page {
  readonly links: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
}

function read(path: string): Page {
  const html = readFileSync(path, 'utf8');
  const own = [...html.matchAll(LINK)].map(([, link = '']) => link.replaceAll('&amp;', '&'));
  return {
    links: new Set(own.filter((link) => !/^[a-z]+:/.test(link))),
    ids: new Set([...html.matchAll(ID)].map(([, id = '']) => id)),
  };
}
