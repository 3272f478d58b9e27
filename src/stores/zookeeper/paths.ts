/** Paths as ZooKeeper's own client allows them: servers refuse or misread any other. */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';

/** Control characters, private use, noncharacters, and all beyond the basic plane. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Co}\ufff0-\uffff\u{10000}-\u{10ffff}]/u;

/** @throws UsageError */
export function checkPath(path: string): string {
  const why = whyNot(path);
  if (why === undefined) return path;
  throw new UsageError(`Not a path of ZooKeeper: ${show(path)}: ${why}.`);
}

function whyNot(path: string): string | undefined {
  if (typeof path !== 'string' || !path.startsWith('/')) return 'it does not begin with /';
  if (path === '/') return undefined;
  for (const name of path.slice(1).split('/')) {
    if (name === '') return 'a name in it is empty';
    if (name === '.' || name === '..') return 'a name in it is . or ..';
  }
  return FORBIDDEN.test(path) ? 'a character in it is not allowed' : undefined;
}
