/**
 * Resources as names of nodes.
 *
 * A resource is one name, never a path of several. Its characters stand as they are, but for those
 * that paths may not have, `/`, which would end the name, and `%`, which marks what stands for
 * them: their UTF-8 as in a URL, with capitals. The names `.` and `..`, which paths may not have
 * either, are written so in full. Different resources have different names, because each name is
 * read back as the resource that it was made of, and any other name as none: `resourceIn`.
 * No name is `%` alone, since two digits always follow it.
 */
import { checkName, MAX_NAME_BYTES, MAX_PREFIX_BYTES } from '../../base/names.ts';

/** What `checkPath` refuses, and the two that have a meaning here. */
const SPECIAL = /[%/\p{Cc}\p{Cs}\p{Co}\ufff0-\uffff\u{10000}-\u{10ffff}]/gu;

/** @throws UsageError for what is no name: nothing, or half of a surrogate pair. */
export function nodeName(resource: string): string {
  checkName(resource, 'resource', MAX_PREFIX_BYTES + MAX_NAME_BYTES);
  if (resource === '.' || resource === '..') return resource.replaceAll('.', '%2E');
  return resource.replace(SPECIAL, encodeURIComponent);
}

/** Whose name this is; undefined if `nodeName` answers it for none. */
export function resourceIn(name: string): string | undefined {
  try {
    const resource = decodeURIComponent(name);
    return nodeName(resource) === name ? resource : undefined;
  } catch {
    return undefined;
  }
}
