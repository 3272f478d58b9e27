/**
 * Paths as ZooKeeper's own client allows them, because servers refuse or misread any other, and
 * resources as names in them.
 *
 * A resource is one name, never a path of several. Its characters stay as they are, except those
 * that paths may not have, `/`, which would end the name, and `%`, which marks an escape: these
 * become their UTF-8 as in a URL, with capitals, and so do the names `.` and `..` in full.
 * Different resources have different names, because each name reads back as the resource it was
 * made from, and any other name as none: `resourceIn`. None is `%` alone: two digits follow it.
 */
import { UsageError } from '../../base/errors.ts';
import { checkName, MAX_NAME_BYTES, MAX_PREFIX_BYTES } from '../../base/names.ts';
import { show } from '../../base/show.ts';

/** Control characters, private use, noncharacters, and all beyond the basic plane. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Co}\ufff0-\uffff\u{10000}-\u{10ffff}]/u;
/** These, and the two with a meaning in names. */
const SPECIAL = new RegExp(`[%/]|${FORBIDDEN.source}`, 'gu');

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

/** @throws UsageError for an invalid name: empty, or half of a surrogate pair. */
export function nodeName(resource: string): string {
  checkName(resource, 'resource', MAX_PREFIX_BYTES + MAX_NAME_BYTES);
  if (resource === '.' || resource === '..') return resource.replaceAll('.', '%2E');
  return resource.replace(SPECIAL, encodeURIComponent);
}

export function resourceIn(name: string): string | undefined {
  try {
    const resource = decodeURIComponent(name);
    return nodeName(resource) === name ? resource : undefined;
  } catch {
    return undefined;
  }
}
